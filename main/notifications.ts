import type { ConsoleEvent } from '../shared/console/contract.ts'
import { fill } from '../shared/refusals/template.ts'
import type { Texts } from './texts.ts'
import { Notification } from 'electron'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { DeviceView } from '../shared/domain/devices.ts'
import type { NodeView } from '../shared/domain/nodes.ts'

/** Time during which failures are combined into one notification, in milliseconds. */
const gatherMs = 2_000

interface Recorder {
  texts: () => Texts
  /** Whether the console's window is visible, so that the operator needs no notification. */
  isVisible: () => boolean
  show: (text: string) => void
}

/**
 * Shows notifications of nodes and devices that fail while the window is hidden. Requires the initial state and every
 * later event.
 */
export class DownNotifications {
  readonly #recorder: Recorder
  readonly #nodes = new Map<string, NodeView['state']>()
  readonly #joined = new Set<string>()
  #downNodes = new Set<string>()
  #downDevices = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  onEvent(event: ConsoleEvent): void {
    if (event.name === 'nodes.changed') this.nodes(event.payload.items)
    if (event.name === 'devices.changed') this.devices(event.payload.items, event.payload.removed)
  }

  /** Applies the state of all nodes. */
  nodes(views: readonly NodeView[]): void {
    const before = new Map(this.#nodes)
    this.#nodes.clear()
    for (const { config, state } of views) {
      this.#nodes.set(config.name, state)
      if (state !== 'offline') this.#downNodes.delete(config.name)
      else if (isUp(before.get(config.name))) this.#downNodes.add(config.name)
    }
    this.#notifySoon()
  }

  /** Applies changed devices. */
  devices(views: readonly DeviceView[], removed: readonly string[] = []): void {
    for (const { userId, userName, state } of views) {
      if (state === 'joined') {
        this.#joined.add(userId)
        this.#downDevices.delete(userId)
      } else if (this.#joined.delete(userId) && state !== 'paused') this.#downDevices.set(userId, userName)
      if (state === 'paused') this.#downDevices.delete(userId)
    }
    for (const userId of removed) {
      this.#joined.delete(userId)
      this.#downDevices.delete(userId)
    }
    this.#notifySoon()
  }

  #notifySoon(): void {
    if (this.#downNodes.size + this.#downDevices.size === 0 || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#notify(), gatherMs)
    this.#timer.unref()
  }

  #notify(): void {
    this.#timer = undefined
    const [nodes, devices] = [[...this.#downNodes], [...this.#downDevices.values()]]
    this.#downNodes = new Set()
    this.#downDevices = new Map()
    if (this.#recorder.isVisible()) return
    const texts = this.#recorder.texts()
    const lines: string[] = []
    if (nodes.length > 0)
      lines.push(
        nodes.length === 1 ? fill(texts.nodeDown, { name: nodes.join() }) : fill(texts.nodesDown, { n: nodes.length }),
      )
    if (devices.length > 0)
      lines.push(
        devices.length === 1
          ? fill(texts.deviceDown, { name: devices.join() })
          : fill(texts.devicesDown, { n: devices.length }),
      )
    if (lines.length > 0) this.#recorder.show(lines.join('\n'))
  }
}

function isUp(state: NodeView['state'] | undefined): boolean {
  return state === 'online' || state === 'draining'
}

/**
 * Maximum number of notifications kept. When this number is reached, the system has already removed older ones from its
 * list.
 */
const maxHeld = 50

interface NotifierOptions {
  logger: Logger
  open: () => void
  /**
   * Called with each text that the system does not show, because it has no notifications or refuses those of this app
   * (as macOS does for an unsigned app).
   */
  onRefused: (text: string) => void
}

/**
 * Shows notifications of the system, and keeps a reference to each until the operator clicks or closes it: if the
 * object is garbage-collected, Electron does not report the click.
 */
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
      // After a timeout, Windows moves the notification to its notification center, where the operator can still click
      // it.
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
