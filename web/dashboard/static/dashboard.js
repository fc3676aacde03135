// Everything here adds to pages that work without it: times in the reader's
// zone, rows that unfold in place, copying, showing the password.
(() => {
  'use strict';

  const words = document.body.dataset;
  // English is written the way the server writes it: day before month, 24 hours.
  const language = document.documentElement.lang === 'en' ? 'en-GB' : document.documentElement.lang;
  const clock = new Intl.DateTimeFormat(language, {
    day: 'numeric', month: 'short', year: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short',
  });

  let forgetting;

  function announce(text) {
    const region = document.getElementById('status');
    region.textContent = ''; // so that the same text is spoken again
    setTimeout(() => { region.textContent = text; }, 100);
    clearTimeout(forgetting);
    forgetting = setTimeout(() => { region.textContent = ''; }, 10000);
  }

  function localTimes(root) {
    for (const time of root.querySelectorAll('time[data-local]')) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.textContent = clock.format(at);
    }
  }

  async function copy(button) {
    const source = button.dataset.copy;
    const text = source ? document.getElementById(source).textContent : button.dataset.text;
    await navigator.clipboard.writeText(text);
    announce(words.copied);
  }

  function copyButtons(root) {
    if (!navigator.clipboard) return; // only on https and on this machine
    for (const button of root.querySelectorAll('[data-copy], [data-text]')) {
      button.hidden = false;
      button.addEventListener('click', () => copy(button));
    }
  }

  function passwordSwitch(button) {
    const field = document.getElementById(button.dataset.reveal);
    const show = button.textContent;
    button.hidden = false;
    button.addEventListener('click', () => {
      const revealed = field.type === 'password';
      field.type = revealed ? 'text' : 'password';
      button.textContent = revealed ? button.dataset.hide : show;
      field.focus();
    });
  }

  // The parser runs no script and the policy would stop one; the fragment is
  // our own server's, escaped there.
  async function load(fragment, cell) {
    const answer = await fetch(fragment, { redirect: 'error' });
    if (!answer.ok) throw new Error(String(answer.status));
    const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
    cell.replaceChildren(...parsed.body.childNodes);
    enhance(cell);
  }

  function rememberOpen(id) {
    const address = new URL(location.href);
    if (id) address.searchParams.set('open', id);
    else address.searchParams.delete('open');
    history.replaceState(null, '', address);
  }

  function disclosure(link) {
    const detail = document.getElementById(link.dataset.unfold);
    const cell = detail.firstElementChild;
    const row = link.closest('tr');
    const id = link.closest('tbody').id;
    const button = document.createElement('button');
    button.type = 'button';
    button.id = link.id;
    button.className = link.className;
    button.setAttribute('aria-label', link.getAttribute('aria-label'));
    button.setAttribute('aria-controls', detail.id);
    button.append(...link.childNodes);

    function show(open) {
      detail.hidden = !open;
      row.classList.toggle('open', open);
      button.setAttribute('aria-expanded', String(open));
    }

    async function toggle() {
      const open = detail.hidden;
      show(open);
      rememberOpen(open ? id : '');
      if (!open || cell.hasChildNodes()) return;
      cell.textContent = words.loading;
      cell.setAttribute('aria-busy', 'true');
      try {
        await load(link.dataset.fragment, cell);
        cell.removeAttribute('aria-busy');
      } catch {
        location.assign(link.href); // as without the script: the page, signing in, or what is wrong
      }
    }

    show(!detail.hidden);
    button.addEventListener('click', toggle);
    link.replaceWith(button);
    // The whole row for the mouse, but not what is meant for itself.
    row.addEventListener('click', (event) => {
      if (event.target.closest('a, button') || String(getSelection())) return;
      toggle();
    });
  }

  function enhance(root) {
    localTimes(root);
    copyButtons(root);
    root.querySelectorAll('a[data-unfold]').forEach(disclosure);
    root.querySelectorAll('[data-reveal]').forEach(passwordSwitch);
  }

  enhance(document);
})();
