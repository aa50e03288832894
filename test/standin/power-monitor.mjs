import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

/** Works like Electron's own `power-monitor.ts`: on Linux the system waits for the app only if a listener was counted, and the very first listener never is. */
class PowerMonitor extends EventEmitter {
  constructor() {
    super()
    this._begin()
  }
  isOnBatteryPower() {
    return false
  }
  /** Stand-in only: another process, without listeners. */
  _begin() {
    this.removeAllListeners()
    /** Time for which logind waits for those that delay a shutdown, in milliseconds (logind.conf(5), InhibitDelayMaxSec). */
    this._maxDelayMs = 5_000
    /** Tells whether the system would wait. */
    this._delaysShutdown = process.platform !== 'linux'
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
