// `utilityProcess` by Node's own fork; utility-child.mjs provides `process.parentPort`.
import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { strict } from './strict.mjs'

/** Node itself: `process.execPath` becomes the stand-in. */
const node = process.execPath
const childSetup = join(import.meta.dirname, 'utility-child.mjs')
/** An unhandled rejection is only a warning there. */
const execArgv = ['--unhandled-rejections=warn-with-error-code', '--import', childSetup]

/** Options that Electron passes on to Node (node_bindings.cc, `IsAllowedOption`). It ignores all others. */
const nodeOptions = new Set([
  '--diagnostic-dir',
  '--dns-result-order',
  '--no-deprecation',
  '--throw-deprecation',
  '--trace-deprecation',
  '--trace-warnings',
  '--no-experimental-global-navigator',
])
/** Chromium's switch for options of V8 (javascript_environment.cc). */
const v8Options = '--js-flags='

/** @param {string[]} given @returns {string[]} those that have an effect in a utility process */
const effectiveOptions = (given) =>
  given.flatMap((argument) => {
    if (argument.startsWith(v8Options)) return argument.slice(v8Options.length).split(' ')
    return nodeOptions.has(argument.split('=')[0]) ? [argument] : []
  })

/** @param {import('node:child_process').ChildProcess} child */
function utilityProcessOf(child) {
  const events = new EventEmitter()
  let hasStarted = false
  child.on('spawn', () => {
    hasStarted = true
    events.emit('spawn')
  })
  child.on('message', (message) => events.emit('message', message))
  child.on('exit', (code) => events.emit('exit', code ?? 1))
  return strict('UtilityProcess', {
    get pid() {
      return hasStarted && child.exitCode === null && child.signalCode === null ? child.pid : undefined
    },
    on: (event, listener) => void events.on(event, listener),
    once: (event, listener) => void events.once(event, listener),
    postMessage(message) {
      const copy = structuredClone(message)
      if (child.connected) child.send(copy, () => {})
    },
    kill: () => child.kill('SIGTERM'),
    /** Stand-in only: a fatal error of V8 in the process. Without a listener the main process gets an uncaught exception. */
    _failFatally: () => void events.emit('error', 'FatalError', 'v8::internal::V8::FatalProcessOutOfMemory', '{}'),
  })
}

export const utilityProcess = strict('utilityProcess', {
  fork: (modulePath, args = [], { execArgv: given = [] } = {}) =>
    utilityProcessOf(
      fork(modulePath, args, {
        execPath: node,
        execArgv: [...execArgv, ...effectiveOptions(given)],
        serialization: 'advanced',
        stdio: ['ignore', 2, 2, 'ipc'],
      }),
    ),
})
