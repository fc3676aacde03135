// A button on each block of code that copies it. Without this file the blocks
// are as they are: selecting works, too.
const status = document.getElementById('announcement');
for (const figure of document.querySelectorAll('figure.code')) {
  const code = figure.querySelector('code');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = figure.dataset.copy;
  const name = figure.querySelector('figcaption').textContent;
  if (name) button.setAttribute('aria-label', figure.dataset.copy + ' ' + name);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch { // plain http: select it, so that the keys for copying do the rest
      getSelection().selectAllChildren(code);
      document.execCommand('copy');
    }
    status.textContent = '';
    setTimeout(() => { status.textContent = figure.dataset.copied; }, 100);
    button.textContent = figure.dataset.copied;
    setTimeout(() => { button.textContent = figure.dataset.copy; }, 3000);
  });
  figure.append(button);
}
