// Notifications: each has an object of the app's and one of the system's, and the app's holds both. Whoever drops it hears of no click.
import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

/** Where a test asks for it (`STANDIN_NOTIFICATIONS=failed`) the system refuses each, as macOS does those of an unsigned app. */
const areRefused = () => process.env.STANDIN_NOTIFICATIONS === 'failed'
const refusal = 'UNErrorDomain error 1: Notifications are not allowed for this application'

/** What the system shows: the text, and a weak hold on the app's object. The latest are kept. */
const shown = []
const maxShown = 100

/** A function of its own: a closure made where `this` is would hold it. */
function show(body, held) {
  const emit = (event) => held.deref()?.emit(event, {})
  shown.push({ body, click: () => emit('click'), dismiss: () => emit('close') })
  if (shown.length > maxShown) shown.shift()
  setImmediate(emit, 'show')
}

class Notice extends EventEmitter {
  /** The stand-in's own: what was shown, to be clicked or closed as a person does. */
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
