import { unlessAborted } from '../../../../shared/abort.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'
import { DeviceJoinError, NodeError } from '../../port/media-node-port.ts'
import { bothAttached, type HandlePair, passCandidates } from '../wire/handle-pair.ts'
import { isJanusError, janusCodes, JanusError } from '../wire/janus-error.ts'
import type { HandleEvent, JanusHandle } from '../wire/janus-handle.ts'
import type { JanusSession } from '../wire/janus-session.ts'

/**
 * The two handles that make a camera a participant of a room. One watches its mountpoint, and the other publishes the
 * received stream in the room. Janus connects to itself over WebRTC, so that no process of the controller handles
 * media.
 */
export type BridgeHandles = HandlePair

/** Source and target of a bridge. */
interface BridgeEnds {
  mountpoint: { id: string; pin: string }
  /** Room, id, display name and credentials of the publisher. */
  join: Readonly<Record<string, unknown>>
}

/** Opaque id of cameras in Janus's events. */
const cameraOpaqueId = 'roomdesk-camera'

/**
 * Attaches both handles. If one cannot be attached, the other handle is detached.
 * @throws the errors of JanusSession.attach
 */
export async function attachBridge(session: JanusSession, signal: AbortSignal): Promise<BridgeHandles> {
  return await bothAttached(
    session.attach('janus.plugin.videoroom', signal, cameraOpaqueId),
    session.attach('janus.plugin.streaming', signal, cameraOpaqueId),
  )
}

/**
 * Connects the handles; resolves when video flows in the room.
 * @throws DeviceJoinError, NodeError; the signal's reason
 */
export async function connectBridge(
  { publisher, subscriber }: BridgeHandles,
  { mountpoint, join }: BridgeEnds,
  signal: AbortSignal,
): Promise<void> {
  const flowing = Promise.withResolvers<void>()
  // Prevents an unhandled rejection: the connection may fail before the promise is awaited.
  flowing.promise.catch(() => {})
  const described = Promise.withResolvers<void>()
  const hear = (event: HandleEvent): void => {
    if (event.type === 'media' && event.media === 'video' && event.receiving) flowing.resolve()
    else if (event.type === 'hangup') flowing.reject(new NodeError(`its WebRTC connection failed: ${event.reason}`))
    else if (event.type === 'detached') flowing.reject(new NodeError(`a handle is gone: ${event.reason}`))
  }
  const stops = [
    publisher.onEvent(hear),
    subscriber.onEvent((event) => event.type !== 'media' && hear(event)),
    passCandidates({ publisher, subscriber }, described.promise, signal),
  ]
  try {
    const { jsep: offer } = await subscriber.request({ request: 'watch', ...mountpoint }, signal)
    if (offer === undefined) throw new NodeError('its mountpoint offers nothing')
    const { data, jsep: answer } = await joinRoom(publisher, join, signal, offer)
    if (answer === undefined) throw new NodeError('its room answers nothing')
    if (data.video_codec === undefined)
      throw new DeviceJoinError('noUsableTrack', 'The room does not take the codec of this camera.')
    await subscriber.request({ request: 'start' }, signal, answer)
    described.resolve()
    await unlessAborted(flowing.promise, signal)
  } finally {
    for (const stop of stops) stop()
  }
}

/**
 * Removes the bridge from its room. Resolves when the participant has left and both handles are detached. A handle that
 * no longer exists is passed as undefined.
 * @throws NodeError
 */
export async function leaveBridge(
  publisher: JanusHandle | undefined,
  subscriber: JanusHandle | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    // The explicit request is necessary because Janus reports a handle as detached before its participant has left.
    await publisher?.request({ request: 'leave' }, signal)
  } catch (error) {
    // The publisher never joined, or was kicked.
    if (!(error instanceof JanusError)) throw error
  }
  const handles = [publisher, subscriber].filter((handle) => handle !== undefined)
  await Promise.all(handles.map((handle) => handle.detach(signal)))
}

async function joinRoom(
  publisher: JanusHandle,
  join: BridgeEnds['join'],
  signal: AbortSignal,
  offer: Parameters<JanusHandle['request']>[2],
): ReturnType<JanusHandle['request']> {
  try {
    return await publisher.request({ request: 'joinandconfigure', ptype: 'publisher', ...join }, signal, offer)
  } catch (error) {
    if (isJanusError(error, janusCodes.noRoom))
      throw new DeviceJoinError('nodeFailed', 'The room is not open on this node.', { cause: error })
    if (isJanusError(error, janusCodes.publishersFull))
      throw new DeviceJoinError('roomFull', 'As many publish in the room as may.', { cause: error })
    throw error
  }
}

/** Reason why a bridge ended without a request of the controller. */
export type BridgeEnd =
  /** left: the camera was removed from the room, or the room was destroyed. */
  { type: 'left' } | { type: 'lost'; kind: DeviceErrorKind; detail: string }

/** Values and callbacks for watching a bridge. */
interface BridgeWatchOptions {
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
