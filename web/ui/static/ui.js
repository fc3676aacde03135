// Everything here adds to pages that work without it: times in the reader's
// zone, rows that unfold in place, copying, showing the password, parts that
// follow what happens.
(() => {
  'use strict';

  const words = document.body.dataset;
  const page = document.documentElement;
  // English is written the way the server writes it: day before month, 24 hours.
  const clock = new Intl.DateTimeFormat(page.lang === 'en' ? 'en-GB' : page.lang, {
    day: 'numeric', month: 'short', year: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short',
  });

  let forgetting;

  function say(text) {
    const region = document.getElementById('live-status');
    region.textContent = ''; // so that the same text is spoken again
    setTimeout(() => { region.textContent = text; }, 100);
    clearTimeout(forgetting);
    forgetting = setTimeout(() => { region.textContent = ''; }, 10000);
  }

  // A zone's name is a cookie's value as it is. From the next page on the server writes the reader's own times.
  function tellZone() {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (!zone || document.cookie.includes(`btx_zone=${zone}`)) return;
    document.cookie = `btx_zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  }

  function localTimes(root) {
    for (const time of root.querySelectorAll('time[data-local]')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.textContent = clock.format(at);
      if (!at.getTimezoneOffset()) continue;
      const utc = document.createElement('span');
      utc.className = 'utc';
      utc.textContent = ` (${at.toISOString().slice(11, 19)} UTC)`;
      time.after(utc);
      delete time.dataset.local;
    }
  }

  async function copy(button) {
    const source = button.dataset.copy;
    const text = source ? document.getElementById(source).textContent : button.dataset.text;
    await navigator.clipboard.writeText(text);
    say(words.copied);
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

  // A part of a page. The header tells it from a page where the browser tells
  // nothing itself, over plain http.
  function part(address) {
    return fetch(address, { redirect: 'error', headers: { 'X-Part': '1' } });
  }

  // The parser runs no script and the policy would stop one; the fragment is
  // our own server's, escaped there.
  async function load(fragment, cell) {
    const answer = await part(fragment);
    if (!answer.ok) throw new Error(String(answer.status));
    const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
    cell.replaceChildren(...parsed.body.childNodes);
    enhance(cell);
    window.htmx?.process(cell);
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
      if (event.target.closest('a, button, input, label, summary') || String(getSelection())) return;
      toggle();
    });
  }

  // A form goes once: a second click on its button does nothing. Coming back to
  // the page by the browser's own way makes it new.
  function sendsOnce(form) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = 'yes';
    });
    window.addEventListener('pageshow', () => { delete form.dataset.sent; });
  }

  // A choice that needs no button: the form goes when it changes.
  function submitOnChange(field) {
    for (const button of field.form.querySelectorAll('[data-instead]')) button.hidden = true;
    field.addEventListener('change', () => field.form.requestSubmit());
  }

  // A form that asks first: its dialog shows, and the dialog's own form acts.
  function opensDialog(button) {
    const dialog = document.getElementById(button.dataset.dialog);
    button.addEventListener('click', (event) => {
      event.preventDefault();
      dialog.showModal();
      dialog.querySelector('[data-close]')?.focus(); // the safe one: the Enter that opened it ends in what has the focus
    });
    dialog.addEventListener('close', () => button.focus());
    for (const closing of dialog.querySelectorAll('[data-close]')) {
      closing.addEventListener('click', (event) => { event.preventDefault(); dialog.close(); });
    }
  }

  // A dropdown closes by Escape and by a click elsewhere.
  function dropdown(details) {
    document.addEventListener('click', (event) => {
      if (!details.contains(event.target)) details.open = false;
    });
    details.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !details.open) return;
      details.open = false;
      details.querySelector('summary').focus();
    });
  }

  // The navigation is folded on narrow windows and open on wide ones.
  function menu(details) {
    const narrow = matchMedia('(max-width: 67.99rem)');
    const follow = () => { details.open = !narrow.matches; };
    narrow.addEventListener('change', follow);
    follow();
  }

  // A part that follows what happens: it is fetched again every so often and put
  // in place of itself. It rests while nobody looks, while a row is open, a box
  // ticked or a dialog shown inside, and ends when what is fetched follows nothing.
  function live(element) {
    const every = Number(element.dataset.every) * 1000;
    const busy = () => document.hidden || element.contains(document.activeElement) && document.activeElement.matches('input, select, textarea')
      || element.querySelector('tr.open, input:checked[data-select], dialog[open]');
    const timer = setInterval(async () => {
      if (!element.isConnected) { clearInterval(timer); return; }
      if (busy()) return;
      try {
        const answer = await part(element.dataset.live);
        if (!answer.ok) return;
        const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
        if (busy() || !element.isConnected) return;
        clearInterval(timer);
        replaceLive(element, parsed.body);
      } catch { /* offline: the next turn may be luckier */ }
    }, every);
  }

  // The focus stays where it was, by the element's id.
  function replaceLive(element, body) {
    const focused = element.contains(document.activeElement) ? document.activeElement.id : '';
    const nodes = [...body.children];
    element.replaceWith(...nodes);
    for (const node of nodes) {
      enhance(node, true);
      window.htmx?.process(node);
      if (node.dataset.say) say(node.dataset.say);
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  // What htmx has put in place is like any other part.
  function swapped(event) {
    const part = event.detail.target.isConnected ? event.detail.target : document.getElementById(event.detail.target.id);
    if (!part) return;
    enhance(part, true);
    const saying = part.matches('[data-say]') ? part : part.querySelector('[data-say]');
    if (saying) say(saying.dataset.say);
  }

  function each(root, selector, apply, itself) {
    if (itself && root.matches(selector)) apply(root);
    root.querySelectorAll(selector).forEach(apply);
  }

  function enhance(root, itself = false) {
    localTimes(root);
    copyButtons(root);
    each(root, 'a[data-unfold]', disclosure, itself);
    each(root, '[data-reveal]', passwordSwitch, itself);
    each(root, '[data-submit]', submitOnChange, itself);
    each(root, 'form[method="post"]', sendsOnce, itself);
    each(root, '[data-dialog]', opensDialog, itself);
    each(root, '[data-live]', live, itself);
    document.dispatchEvent(new CustomEvent('ui:enhance', { detail: root }));
  }

  tellZone();
  enhance(document);
  document.querySelectorAll('[data-dropdown]').forEach(dropdown);
  document.querySelectorAll('.menu').forEach(menu);
  document.querySelectorAll('.done[data-say]').forEach((done) => say(done.dataset.say));
  document.addEventListener('htmx:afterSwap', swapped);
  for (const failure of ['htmx:responseError', 'htmx:sendError', 'htmx:timeout']) {
    document.addEventListener(failure, () => say(words.failed));
  }
})();
