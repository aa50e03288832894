import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

/** As in Electron's own `power-monitor.ts`: on Linux the system waits for the app only where a listener was counted, and the very first listener never is. */
class PowerMonitor extends EventEmitter {
  /** The stand-in's own: whether the system would wait. */
  _delaysShutdown = process.platform !== 'linux'

  constructor() {
    super()
    this.once('newListener', () => {
      if (process.platform !== 'linux') return
      const count = (one) => (this._delaysShutdown = this.listenerCount('shutdown') + one > 0)
      count(0)
      this.on('newListener', (event) => event === 'shutdown' && count(1))
      this.on('removeListener', (event) => event === 'shutdown' && count(0))
    })
  }
}

export const powerMonitor = strict('powerMonitor', new PowerMonitor())
