// `utilityProcess` by Node's own fork; utility-child.mjs gives the program its `process.parentPort`.
import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { strict } from './strict.mjs'

const childSetup = join(import.meta.dirname, 'utility-child.mjs')

/** @param {import('node:child_process').ChildProcess} child */
function utilityProcessOf(child) {
  const events = new EventEmitter()
  child.on('spawn', () => events.emit('spawn'))
  child.on('message', (message) => events.emit('message', message))
  child.on('exit', (code) => events.emit('exit', code ?? 1))
  return strict('UtilityProcess', {
    get pid() {
      return child.exitCode === null && child.signalCode === null ? child.pid : undefined
    },
    on: (event, listener) => void events.on(event, listener),
    once: (event, listener) => void events.once(event, listener),
    postMessage: (message) => void (child.connected && child.send(message, () => {})),
    kill: () => child.kill('SIGTERM'),
  })
}

export const utilityProcess = strict('utilityProcess', {
  fork: (modulePath, args = []) =>
    utilityProcessOf(fork(modulePath, args, { execArgv: ['--import', childSetup], stdio: ['ignore', 2, 2, 'ipc'] })),
})
