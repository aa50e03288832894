// Notifications: each has an object of the app and one of the system, which the app's object keeps alive. A released one receives no click.
import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

/** On request of a test (`STANDIN_NOTIFICATIONS=failed`) the system refuses each, as macOS does for an unsigned app. */
const areRefused = () => process.env.STANDIN_NOTIFICATIONS === 'failed'
const refusal = 'UNErrorDomain error 1: Notifications are not allowed for this application'

/** Notifications on screen: the text, and a weak reference to the app's object. Keeps the latest. */
const shown = []
const maxShown = 100

/** A separate function: a closure with `this` in scope would keep it alive. */
function show(body, held) {
  const emit = (event) => held.deref()?.emit(event, {})
  shown.push({ body, click: () => emit('click'), dismiss: () => emit('close') })
  if (shown.length > maxShown) shown.shift()
  setImmediate(emit, 'show')
}

class Notice extends EventEmitter {
  /** Stand-in only: displayed notifications, for a test to click or close. */
  static _shown = shown

  static isSupported() {
    return true
  }
  constructor({ title = '', body = '' } = {}) {
    super()
    this.title = title
    this.body = body
    return strict('Notification', this)
  }
  show() {
    if (areRefused()) return void setImmediate(() => this.emit('failed', {}, refusal))
    show(this.body, new WeakRef(this))
  }
}

export const Notification = strict('Notification', Notice)
