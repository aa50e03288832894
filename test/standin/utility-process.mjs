// `utilityProcess` by Node's own fork: the program of the app finds `process.send` where Electron's would find `process.parentPort`.
import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

class UtilityProcess extends EventEmitter {
  #child

  constructor(child) {
    super()
    this.#child = child
    child.on('spawn', () => this.emit('spawn'))
    child.on('message', (message) => this.emit('message', message))
    child.on('exit', (code) => this.emit('exit', code ?? 1))
  }

  get pid() {
    return this.#child.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined
  }

  postMessage(message) {
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  kill() {
    return this.#child.kill('SIGTERM')
  }
}

export const utilityProcess = strict('utilityProcess', {
  fork: (modulePath, args = []) => {
    const child = fork(modulePath, args, { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] })
    return strict('UtilityProcess', new UtilityProcess(child))
  },
})
