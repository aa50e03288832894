import { Notification } from 'electron'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'

/** Maximum number of open notifications to keep; the system has dropped older ones from its list by then. */
const maxHeld = 50

/** Parts of the notifier. */
export interface NotifierOptions {
  logger: Logger
  /** Action of a click on a notification. */
  open: () => void
  /** Called with each text that the system does not show: it has no notifications, or refuses those of this app (as macOS does with an unsigned app). */
  onRefused: (text: string) => void
}

/** Shows notifications of the system, and keeps each until it is clicked or closed: without its object the click is lost. */
export class Notifier {
  readonly #options: NotifierOptions
  readonly #held = new LRUCache<Notification, true>({ max: maxHeld })

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  show(text: string): void {
    const { logger, open, onRefused } = this.#options
    if (!Notification.isSupported()) return onRefused(text)
    const notification = new Notification({ title: 'Roomdesk', body: text })
    const release = (): void => void this.#held.delete(notification)
    notification.on('click', () => {
      release()
      open()
    })
    notification.on('close', ({ reason }) => {
      // Windows moves it to its notification centre, where it can still be clicked.
      if (reason !== 'timedOut') release()
    })
    notification.on('failed', (_event, error) => {
      release()
      logger.warn({ error }, 'the system does not show a notification')
      onRefused(text)
    })
    this.#held.set(notification, true)
    notification.show()
  }
}
