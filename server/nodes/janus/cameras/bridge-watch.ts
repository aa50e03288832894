import type { DeviceErrorKind } from '../../../../shared/device.ts'
import type { HandleEvent } from '../wire/janus-handle.ts'
import type { BridgeHandles } from './bridge-joining.ts'

/** How a bridge ended by itself. */
export type BridgeEnd =
  /** Somebody took it out of the room, or the room is gone. */
  { type: 'left' } | { type: 'lost'; kind: DeviceErrorKind; detail: string }

/** The watched bridge, and its deadlines. */
export interface BridgeWatchOptions {
  /** How long a camera may be silent, in milliseconds. */
  stallMs: number
  /** For how long it has been silent when the watch begins. */
  silence: number
  /** Asks Janus for how long it has been silent now, in milliseconds. */
  askSilence: () => Promise<number>
  /** Called once. */
  onEnd: (end: BridgeEnd) => void
}

/** Silence after which Janus sends an event, in milliseconds. */
const silenceEventMs = 1_000

/**
 * Watches a bridge whose media flows, and tells how it ended. A session that ends with its socket is no end: it may be claimed, and is watched again then.
 * @returns what ends the watch
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
      // Events may have been missed, so Janus is queried before the camera is given up. If it cannot be queried, the end of the session decides.
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

/** It was kicked, or its room was destroyed. */
function isDeparture(data: Readonly<Record<string, unknown>>): boolean {
  return data.leaving === 'ok' || data.videoroom === 'destroyed'
}

/** Its mountpoint is gone. */
export function isStopped({ result }: Readonly<Record<string, unknown>>): boolean {
  return typeof result === 'object' && result !== null && 'status' in result && result.status === 'stopped'
}
