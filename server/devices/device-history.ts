import type { DeviceMoment, DeviceView } from '../../shared/domain/devices.ts'

/** Entries kept of one device. */
const kept = 30

/** Sources of a history. */
export interface HistorySources {
  /** Tells a userId whenever that device came, changed or went. */
  onChange(listener: (userId: string) => void): () => void
  /** undefined when it is gone. */
  view(userId: string): Pick<DeviceView, 'state' | 'last_error' | 'retries' | 'since'> | undefined
}

/**
 * History of each device since the controller started: when it joined, why it was lost, when it was paused. In memory, with a limit. Attempts that fail for one reason after
 * another are one entry, so that a night without the camera does not push out the evening before.
 */
export class DeviceHistory {
  readonly #sources: HistorySources
  readonly #byDevice = new Map<string, DeviceMoment[]>()
  readonly #stop: () => void

  constructor(sources: HistorySources) {
    this.#sources = sources
    this.#stop = sources.onChange((userId) => this.#follow(userId))
  }

  /** Newest first; empty when nothing happened yet. */
  of(userId: string): DeviceMoment[] {
    return this.#byDevice.get(userId)?.toReversed() ?? []
  }

  close(): void {
    this.#stop()
  }

  #follow(userId: string): void {
    const view = this.#sources.view(userId)
    if (view === undefined) {
      this.#byDevice.delete(userId)
      return
    }
    const entry = momentOf(view)
    if (entry === undefined) return
    const entries = this.#byDevice.get(userId) ?? []
    this.#byDevice.set(userId, entries)
    const last = entries.at(-1)
    if (last?.state !== entry.state || last.kind !== entry.kind) {
      entries.push(entry)
      if (entries.length > kept) entries.shift()
    } else if (entry.until > last.until) {
      last.until = entry.until
      last.times += 1
    }
  }
}

/** undefined for a state that says nothing new: an attempt under way, or a wait that nothing went wrong before. */
function momentOf({ state, last_error, since }: ReturnType<HistorySources['view']> & object): DeviceMoment | undefined {
  if (state === 'joined' || state === 'paused') return { state, kind: null, at: since, until: since, times: 1 }
  if (state !== 'waiting' || last_error === null) return undefined
  return { state, kind: last_error.kind, at: last_error.at, until: last_error.at, times: 1 }
}
