// Debian's Chromium as a child, and one flat DevTools connection to it over Node's own WebSocket.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromiumProgram as executable } from '../support/chromium-program.ts'

const flags = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--no-startup-window',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-extensions',
  '--disable-sync',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--password-store=basic',
  '--force-color-profile=srgb',
]

/** A message that a closed window cannot answer any more. */
class Disconnected extends Error {}

/** Ignores answers that a closed window cannot give. @param {unknown} error */
export function ignoreDisconnected(error) {
  if (!(error instanceof Disconnected)) throw error
}

/** Ends what it starts when the app is killed, which cannot do it (util-linux). */
const setpriv = '/usr/bin/setpriv'

/** Starts Chromium. @param {string[]} languages of the pages, as Electron makes them: the app's own, then the system's preferred ones. @returns its DevTools address, and a function that ends it */
export async function launchChromium(languages) {
  if (!existsSync(executable)) throw new Error(`stand-in: ${executable} is missing: apt-get install chromium`)
  const profile = mkdtempSync(join(tmpdir(), 'roomdesk-standin-'))
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const look = [...flags, ...asRoot, `--lang=${languages[0]}`, `--accept-lang=${languages}`]
  const [program, ...before] = existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', executable] : [executable]
  const child = spawn(program, [...before, ...look, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const end = () => {
    child.kill('SIGKILL')
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    } catch {
      // Chromium's children may still write; the system clears its temporary folder.
    }
  }
  process.once('exit', end)
  const { promise, resolve, reject } = Promise.withResolvers()
  child.once('exit', (code) => reject(new Error(`stand-in: Chromium left with ${code}`)))
  createInterface({ input: child.stderr }).on('line', (line) => {
    const match = /^DevTools listening on (ws:.*)$/.exec(line)
    if (match) resolve(match[1])
  })
  return { address: await promise }
}

/** Connects to DevTools. The connection itself is the browser's session; `session(id)` is one of its targets'. @param {string} address */
export async function connect(address) {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`stand-in: no DevTools at ${address}`))
  })
  const waiting = new Map()
  const listeners = new Map()
  let last = 0

  const failure = (method, text) => new Disconnected(`${method}: ${text}`)
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data)
    if (message.id === undefined) return listeners.get(message.sessionId ?? '')?.(message.method, message.params)
    const call = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error) call.reject(failure(call.method, message.error.message))
    else call.resolve(message.result)
  }
  const closed = new Promise((resolve) => {
    socket.onclose = () => {
      for (const { method, reject } of waiting.values()) reject(failure(method, 'the connection was closed'))
      resolve()
    }
  })

  const session = (sessionId) => ({
    send(method, params = {}) {
      if (socket.readyState !== WebSocket.OPEN) return Promise.reject(failure(method, 'the connection is closed'))
      const id = ++last
      const { promise, resolve, reject } = Promise.withResolvers()
      waiting.set(id, { method, resolve, reject })
      socket.send(JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) }))
      return promise
    },
    listen: (listener) => void listeners.set(sessionId ?? '', listener),
  })
  return { ...session(), session, closed }
}
