import type { DeviceErrorKind } from '../../../../shared/device.ts'
import type { HandleEvent } from '../wire/janus-handle.ts'
import type { BridgeHandles } from './bridge-joining.ts'

/** Reason why a bridge ended without a request of the controller. */
export type BridgeEnd =
  /** left: the camera was removed from the room, or the room was destroyed. */
  { type: 'left' } | { type: 'lost'; kind: DeviceErrorKind; detail: string }

/** Values and callbacks for watching a bridge. */
export interface BridgeWatchOptions {
  /** Time without media after which a camera counts as lost, in milliseconds. */
  stallMs: number
  /** Time without media when the watch begins, in milliseconds. */
  silence: number
  /** Queries Janus for the current time without media, in milliseconds. */
  askSilence: () => Promise<number>
  /** Called once when the bridge ends. */
  onEnd: (end: BridgeEnd) => void
}

/** Time without media after which Janus sends an event, in milliseconds. */
const silenceEventMs = 1_000

/**
 * Watches a bridge whose media flows, and reports how it ended. If its session ends with the socket, no end is
 * reported: the session may be claimed, and the bridge is then watched again.
 * @returns a function that ends the watch
 */
export function watchBridge({ publisher, subscriber }: BridgeHandles, options: BridgeWatchOptions): () => void {
  const { stallMs, silence, askSilence, onEnd } = options
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const stop = (): void => {
    isOver = true
    clearTimeout(timer)
    for (const unsubscribe of stops) unsubscribe()
  }
  const end = (how: BridgeEnd): void => {
    if (isOver) return
    stop()
    onEnd(how)
  }
  const lost = (kind: DeviceErrorKind, detail: string): void => end({ type: 'lost', kind, detail })
  const expect = (milliseconds: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // Events may have been missed, so Janus is queried before the camera counts as lost. If the query fails, the
      // bridge ends with its session.
      askSilence().then(
        (silent) => {
          if (silent >= stallMs) lost('stalled', `no picture for ${stallMs} ms`)
          else if (silent >= silenceEventMs) expect(stallMs - silent)
        },
        () => {},
      )
    }, milliseconds)
    timer.unref()
  }
  const either = (event: HandleEvent, session: { isOpen: boolean }): void => {
    if (event.type === 'hangup') lost('closed', `its WebRTC connection ended: ${event.reason}`)
    else if (event.type === 'detached' && session.isOpen) lost('closed', 'a handle was taken away')
    else if (event.type === 'detached') stop()
  }
  const stops = [
    publisher.onEvent((event) => {
      if (event.type === 'media' && event.media === 'video') {
        if (event.receiving) clearTimeout(timer)
        else expect(Math.max(0, stallMs - silenceEventMs))
      } else if (event.type === 'plugin' && isDeparture(event.data)) end({ type: 'left' })
      else either(event, publisher.session)
    }),
    subscriber.onEvent((event) => {
      if (event.type === 'plugin' && isStopped(event.data)) lost('closed', 'its mountpoint is gone')
      else either(event, subscriber.session)
    }),
  ]
  if (silence >= silenceEventMs) expect(Math.max(0, stallMs - silence))
  return stop
}

/** Returns whether the publisher was kicked, or its room was destroyed. */
function isDeparture(data: Readonly<Record<string, unknown>>): boolean {
  return data.leaving === 'ok' || data.videoroom === 'destroyed'
}

/** Returns whether the event reports that the mountpoint was destroyed. */
export function isStopped({ result }: Readonly<Record<string, unknown>>): boolean {
  return typeof result === 'object' && result !== null && 'status' in result && result.status === 'stopped'
}
