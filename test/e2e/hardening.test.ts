import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Desktop, keychain, launch } from './desktop.ts'

/** Actions that a hostile or manipulated page must not achieve: tried from inside the running app. */

let desktop: Desktop
/** A foreign site, and the requests to it. */
let foreignSite: { url: string; asked: string[]; server: Server }

beforeAll(async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*').setHeader('content-type', 'text/javascript')
    response.end('globalThis.evil = true')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  foreignSite = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server }
  desktop = await launch({ env: keychain('v10') })
  // A new site leads there, wherever its console opens.
  await desktop.page.waitForURL('**/*#/welcome')
})
afterEach(() => {
  foreignSite.asked.length = 0
})
afterAll(async () => {
  await desktop[Symbol.asyncDispose]()
  foreignSite.server.close()
})

/** Evaluates an expression in the page's own world. */
const inPage = (expression: string): Promise<unknown> => desktop.page.evaluate(expression)
/** Reads the URL of the app's page. */
const whereItIs = (): Promise<string> =>
  desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getURL() ?? '')

test('the renderer is sandboxed and isolated from the preload', async () => {
  const preferences = await desktop.app.evaluate(({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows()
    // Missing in Electron's types.
    return (window?.webContents as unknown as { getLastWebPreferences: () => object }).getLastWebPreferences()
  })
  expect(preferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    webSecurity: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webviewTag: false,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    navigateOnDragDrop: false,
  })
})

test('the page has one frozen bridge and nothing of Node or Electron', async () => {
  expect(
    await inPage(
      `['require', 'process', 'module', 'Buffer', 'ipcRenderer', 'electron'].filter((name) => name in globalThis)`,
    ),
  ).toEqual([])
  expect(await inPage(`Object.keys(roomdesk).sort()`)).toEqual([
    'call',
    'callApp',
    'onAppChange',
    'onDownload',
    'onEvent',
    'platform',
    'transport',
  ])
  expect(await inPage(`Object.isFrozen(roomdesk)`)).toBe(true)
  expect(await inPage(`(() => { try { roomdesk = {} } catch {} return typeof roomdesk.call })()`)).toBe('function')
})

test('the page comes from app://, which serves only the built page', async () => {
  expect(await whereItIs()).toMatch(/^app:\/\/roomdesk\/index\.html/)
  const statuses = await inPage(`Promise.all([
    '/index.html', '/..%2fmain%2fmain.js', '/%2e%2e%2f%2e%2e%2fpackage.json', '/..%5c..%5cpackage.json', '/assets', '/nothing.js',
  ].map(async (path) => (await fetch(path)).status))`)
  expect(statuses).toEqual([200, 404, 404, 404, 404, 404])
  expect(await inPage(`fetch('/index.html', { method: 'POST' }).then(({ status }) => status)`)).toBe(405)
})

test('the content security policy blocks foreign scripts and every connection to another origin', async () => {
  expect(await inPage(`fetch('/index.html').then(({ headers }) => headers.get('content-security-policy'))`)).toContain(
    "default-src 'self'",
  )
  await inPage(`(() => {
    const add = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields))
    add('script', { textContent: 'globalThis.evil = true' })
    add('script', { src: '${foreignSite.url}/evil.js' })
    add('img', { src: '${foreignSite.url}/evil.png' })
    add('iframe', { src: '${foreignSite.url}/evil.html' })
    add('div', { innerHTML: '<b onclick="globalThis.evil = true"></b>' })
    document.querySelector('b[onclick]').click()
  })()`)
  // Evaluate runs as the debugger, so eval is tried by a timer of the page.
  await inPage(`(() => { try { setTimeout('globalThis.evil = true') } catch {} })()`)
  expect(await inPage(`fetch('${foreignSite.url}/fetched').then(() => 'answered', () => 'refused')`)).toBe('refused')
  expect(
    await inPage(
      `new Promise((resolve) => { const socket = new WebSocket('${foreignSite.url.replace('http', 'ws')}/socket'); socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused') })`,
    ),
  ).toBe('refused')
  expect(await inPage(`globalThis.evil ?? 'stopped'`)).toBe('stopped')
  expect(foreignSite.asked).toEqual([])
})

test('every permission is denied', async () => {
  const names = ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read']
  const states = await inPage(
    `Promise.all(${JSON.stringify(names)}.map(async (name) => (await navigator.permissions.query({ name })).state))`,
  )
  expect(states).toEqual(names.map(() => 'denied'))
  expect(
    await inPage(
      `navigator.mediaDevices.getUserMedia({ audio: true, video: true }).then(() => 'given', ({ name }) => name)`,
    ),
  ).toMatch(/NotAllowedError|NotFoundError/)
  expect(await inPage(`Notification.requestPermission()`)).toBe('denied')
  expect(await inPage(`navigator.usb?.getDevices().then((devices) => devices.length) ?? 0`)).toBe(0)
})

test('only our own page can copy a text to the clipboard', async () => {
  const clipboard = (): Promise<unknown> =>
    inPage(`navigator.permissions.query({ name: 'clipboard-write' }).then(({ state }) => state)`)
  expect(await clipboard()).toBe('granted')
  await desktop.page.bringToFront()
  expect(await inPage(`navigator.clipboard.writeText('copied').then(() => 'copied', ({ name }) => name)`)).toBe(
    'copied',
  )
})

test('a wall keeps the screen on', async () => {
  await desktop.page.bringToFront()
  const lock = `navigator.wakeLock.request('screen').then((lock) => lock.release().then(() => 'given'), ({ name }) => name)`
  expect(await inPage(lock)).toBe('given')
})

test('the page cannot be navigated away', async () => {
  const before = await whereItIs()
  await inPage(`void (location.href = '${foreignSite.url}/away')`)
  await inPage(`void Object.assign(document.createElement('a'), { href: '${foreignSite.url}/link' }).click()`)
  await inPage(`void (location.href = 'file:///etc/passwd')`)
  await inPage(`void (location.href = 'data:text/html,<h1>gone</h1>')`)
  // The page still answers, and it is the same one.
  await expect.poll(() => desktop.call('overview.get')).toMatchObject({ product: 'Roomdesk' })
  expect(await whereItIs()).toBe(before)
  expect(foreignSite.asked).toEqual([])
})

test('no second window opens; only an https address opens in the browser', async () => {
  await desktop.app.evaluate(({ shell }) => {
    const opened: string[] = []
    Object.assign(globalThis, { opened })
    Object.assign(shell, { openExternal: async (url: string) => void opened.push(url) })
  })
  for (const url of [
    'file:///etc/passwd',
    'http://intranet.invalid/',
    'smb://host/share',
    'app://roomdesk/index.html',
    'https://docs.invalid/',
  ]) {
    await inPage(`void window.open('${url}')`)
  }
  const opened = (): Promise<string[] | undefined> =>
    desktop.app.evaluate(() => (globalThis as { opened?: string[] }).opened)
  await expect.poll(opened).toEqual(['https://docs.invalid/'])
  // A room page that the controller has just issued, at http: once.
  const { room_id } = (await desktop.call('rooms.create', { topic: 'Gate' })) as { room_id: string }
  const { url } = (await desktop.call('media.join_now', { room_id })) as { url: string }
  expect(url).toMatch(/^http:/)
  await inPage(`void window.open('${url}')`)
  await inPage(`void window.open('${url}')`)
  await expect.poll(opened).toEqual(['https://docs.invalid/', url])
  await desktop.call('rooms.delete', { room_ids: [room_id] })
  await expect.poll(() => desktop.app.windows().length).toBe(1)
  expect(await desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1)
})

test('a call is answered only for the main frame of our own origin', async () => {
  const outcomes = await desktop.app.evaluate(async ({ BrowserWindow, ipcMain }) => {
    type Handler = (event: unknown, ...values: unknown[]) => Promise<unknown>
    // The same handler as for the page's calls; no public API calls it as another sender.
    const handlers = (ipcMain as unknown as { _invokeHandlers: Map<string, Handler> })._invokeHandlers
    const sender = BrowserWindow.getAllWindows()[0]?.webContents
    const ask = async (senderFrame: unknown): Promise<string> => {
      try {
        const answer = await handlers.get('console:call')?.({ sender, senderFrame }, 'overview.get', {})
        return (answer as { ok: boolean }).ok ? 'answered' : 'refused in words'
      } catch {
        return 'thrown out'
      }
    }
    const ours = { origin: 'app://roomdesk', parent: null }
    return Promise.all([
      ask(ours),
      ask(null),
      ask({ ...ours, parent: ours }),
      ask({ ...ours, origin: 'app://roomdesk.other' }),
      ask({ ...ours, origin: 'https://roomdesk' }),
      ask({ ...ours, origin: 'null' }),
    ])
  })
  expect(outcomes).toEqual(['answered', ...Array.from({ length: 5 }, () => 'thrown out')])
})

test('only procedures of the contract can be called', async () => {
  for (const name of ['no.such', '', '__proto__', 'constructor', 'toString', 'overview', 'overview.get\u0000']) {
    expect(await inPage(`roomdesk.call(${JSON.stringify(name)}, {})`), name).toMatchObject({
      ok: false,
      error: { code: 'notFound' },
    })
  }
  expect(await inPage(`roomdesk.call({ toString: 'overview.get' }, {})`)).toMatchObject({
    ok: false,
    error: { code: 'notFound' },
  })
})

test('the input of a call is validated', async () => {
  const call = (input: string): Promise<unknown> => inPage(`roomdesk.call('rooms.create', ${input})`)
  expect(await call('{ topic: "" }')).toMatchObject({
    ok: false,
    error: { code: 'invalid', problems: [{ path: 'topic' }] },
  })
  for (const input of [
    '"a text"',
    '[]',
    '{ topic: 1 }',
    '{ topic: "Hall", surprise: true }',
    '{ topic: "Hall", room_mode: 9 }',
  ]) {
    expect(await call(input), input).toMatchObject({ ok: false, error: { code: 'invalid' } })
  }
  expect(await call('{ topic: "x".repeat(11 * 1024 * 1024) }')).toMatchObject({ ok: false, error: { code: 'invalid' } })
  expect(await call('{ topic: 10n }')).toMatchObject({ ok: false, error: { code: 'invalid' } })
  const { total } = (await desktop.call('rooms.list', {})) as { total: number }
  expect(total).toBe(0)
})
