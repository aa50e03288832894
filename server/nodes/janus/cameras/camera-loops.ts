import type { DriftKind } from '../../../../shared/console/nodes.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'
import type { StoredCameraLoop } from '../../../store/records.ts'
import { DeviceJoinError, NodeConnectionError, type NodeDevice, type NodeEvent } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { LastingSession } from '../wire/lasting-session.ts'
import type { RoomsForDevices } from '../rooms/room-devices.ts'
import type { Camera } from './camera-key.ts'
import { handlesOf, silenceOf } from './loop-claiming.ts'
import { attachLoop, connectLoop, leaveLoop, type LoopHandles } from './loop-joining.ts'
import type { LoopRecords } from './loop-records.ts'
import { type Loop, LoopTable, newLoop, userOf } from './loop-table.ts'
import { type LoopEnd, watchLoop } from './loop-watch.ts'
import type { MountpointRequests } from './mountpoint-requests.ts'
import type { Mountpoints } from './mountpoints.ts'
import { CameraQueue } from './camera-queue.ts'

/** Needs of the bridges of a node. */
export interface CameraLoopsOptions {
  /** Name of the node. */
  node: string
  session: () => Pick<LastingSession, 'get' | 'current'>
  records: LoopRecords
  mountpoints: Mountpoints
  requests: MountpointRequests
  rooms: RoomsForDevices
  emit: (event: NodeEvent) => void
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock: () => number
  /** How long a camera may be silent, in milliseconds. */
  stallMs: number
  /** Called for each bridge that is gone. */
  gone: (loop: Loop) => void
  /** Aborts when the node goes out of service. */
  closing: AbortSignal
}

/** Wishes for a bridge. */
export interface WantedLoop {
  roomId: string
  device: NodeDevice
  camera: Camera
}

/** How long the end of one loop may take, in milliseconds. */
const detachMs = 3_000
const never = new AbortController().signal

/** The loops of a node, from their joining to their end: each makes one camera a participant of one room. */
export class CameraLoops {
  readonly table = new LoopTable()
  /** Acts on one bridge run one after the other. */
  readonly #queue = new CameraQueue()
  readonly #options: CameraLoopsOptions

  constructor(options: CameraLoopsOptions) {
    this.#options = options
  }

  /** Runs when everything before it that concerns this camera in this room has ended. @throws the signal's reason; what `run` throws */
  inTurn<T>(roomId: string, userId: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    return this.#queue.take(JSON.stringify([roomId, userId]), signal, run)
  }

  /** Resolves when everything that was asked for has ended. */
  async settled(): Promise<void> {
    await this.#queue.settled()
  }

  /** Takes a camera into its room; its picture flows there when this resolves. @throws DeviceJoinError, NodeError; the signal's reason */
  async join(session: JanusSession, wanted: WantedLoop, signal: AbortSignal, isSecond = false): Promise<void> {
    const { roomId, device, camera } = wanted
    const { userId, userName } = device
    const { rooms, mountpoints, records, clock } = this.#options
    const admission = await rooms.admit(roomId, device, signal)
    await mountpoints.hold(session, camera, signal)
    const { loop, handles } = await this.#attach(session, wanted, signal)
    try {
      const join = { room: roomId, id: userId, display: userName, ...admission }
      await connectLoop(handles, { mountpoint: camera, join }, signal)
      signal.throwIfAborted()
    } catch (error) {
      await this.takeDown(session, loop)
      if (!isJanusError(error, janusCodes.idTaken)) throw error
      // One of ours that nobody knew any more, or a person.
      if (isSecond || !(await rooms.clear(roomId, userId, signal))) {
        throw new DeviceJoinError('nodeFailed', 'Somebody with this userId is in the room.', { cause: error })
      }
      return await this.join(session, wanted, signal, true)
    }
    loop.state = 'up'
    loop.record.joined_at = clock()
    records.put(loop.record)
    this.#watch(loop, handles, 0)
  }

  /** A loop of a session that was claimed: it goes on, or is taken down. @param isWanted the store says that the camera belongs there */
  async resume(session: JanusSession, loop: Loop, isWanted: boolean, signal: AbortSignal): Promise<void> {
    const { requests, rooms, stallMs } = this.#options
    const { record } = loop
    if (loop.state === 'up' && loop.device === undefined && !isWanted) {
      this.#tellDrift('cameraUnknown', [loop])
      return await this.takeOut(session, loop)
    }
    if (loop.state !== 'up') return void (await this.takeDown(session, loop))
    const handles = handlesOf(session, record)
    const room = await rooms.nameOf(record.room_id, signal)
    const silence = handles && (await silenceOf({ record, room }, handles, requests, signal))
    if (handles === undefined || silence === undefined || silence >= stallMs) {
      const detail = 'it was gone when the node was reached again'
      if (silence === undefined) this.#tellDrift('cameraMissing', [loop])
      this.#ended(loop, { type: 'lost', kind: silence === undefined ? 'closed' : 'stalled', detail })
    } else this.#watch(loop, handles, silence)
  }

  /** It is to end, though its media flows, and is no longer there a moment later. */
  giveUp(loop: Loop, kind: DeviceErrorKind, detail: string): void {
    loop.unwatch()
    this.#ended(loop, { type: 'lost', kind, detail })
  }

  /** The session is over, and everything with it. @param isFound the node is there without it */
  lost(why: string, isFound: boolean): void {
    const up = [...this.table].filter(({ state }) => state === 'up')
    if (isFound) this.#tellDrift('cameraMissing', up)
    for (const loop of [...this.table]) {
      if (loop.state === 'up') this.#tellEnd(loop, { type: 'lost', kind: 'nodeFailed', detail: why })
      loop.unwatch()
      void this.forget(loop, undefined)
    }
  }

  /** It is to be out of the room: it is when this resolves, or when the session is claimed. @throws NodeConnectionError */
  async takeOut(session: JanusSession, loop: Loop): Promise<void> {
    if (loop.state === 'up') this.#tellEnd(loop, { type: 'left' })
    if (!(await this.takeDown(session, loop))) throw new NodeConnectionError('the connection to the node was lost')
  }

  /** Removes both handles and its part of the mountpoint. Resolves to false when Janus could not be reached: the next claimant of the session does it. Never rejects. */
  async takeDown(session: JanusSession, loop: Loop): Promise<boolean> {
    loop.state = 'over'
    loop.unwatch()
    if (!this.table.has(loop)) return true
    const { publisher, subscriber } = loop.record
    const live = session.isOpen ? session : this.#options.session().current
    if (live === undefined) return false
    try {
      // Those of an earlier session are gone with it.
      if (live.id === loop.record.session) {
        await leaveLoop(live.handle(publisher), live.handle(subscriber), AbortSignal.timeout(detachMs))
      }
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'a camera could not be taken out of a Janus node yet')
      return false
    }
    await this.forget(loop, live)
    return true
  }

  /** It is gone. Resolves when its mountpoint is, where nobody else has it. @param session undefined: nothing can be asked of Janus now */
  async forget(loop: Loop, session: JanusSession | undefined): Promise<void> {
    if (!this.table.has(loop)) return
    this.table.delete(loop)
    this.#options.gone(loop)
    this.#options.records.delete(loop.record)
    await this.#options.mountpoints.release(session, loop.record.mountpoint)
  }

  /** Attaches the handles of a bridge, which is registered from now on, so that it is removed in any case. */
  async #attach(
    session: JanusSession,
    { roomId, device, camera }: WantedLoop,
    signal: AbortSignal,
  ): Promise<{ loop: Loop; handles: LoopHandles }> {
    const { node, mountpoints, requests, records } = this.#options
    let handles: LoopHandles
    try {
      handles = await attachLoop(session, signal)
    } catch (error) {
      await mountpoints.release(session, camera.id)
      throw error
    }
    const record: StoredCameraLoop = {
      node,
      room_id: roomId,
      user_id: device.userId,
      user_name: device.userName,
      session: session.id,
      publisher: handles.publisher.id,
      subscriber: handles.subscriber.id,
      control: requests.controlId,
      mountpoint: camera.id,
      joined_at: 0,
    }
    const loop = newLoop(record, 'joining', device)
    this.table.add(loop)
    records.put(record)
    return { loop, handles }
  }

  #watch(loop: Loop, handles: LoopHandles, silence: number): void {
    const { stallMs, requests, emit } = this.#options
    loop.unwatch = watchLoop(handles, {
      stallMs,
      silence,
      askSilence: () => requests.silenceOf(handles.subscriber, loop.record.mountpoint, never),
      onEnd: (end) => this.#ended(loop, end),
    })
    if (loop.isTold) return
    loop.isTold = true
    emit({ type: 'joined', roomId: loop.record.room_id, user: userOf(loop.record) })
  }

  /** It ended by itself: what is left of it goes. */
  #ended(loop: Loop, end: LoopEnd): void {
    if (loop.state !== 'up') return
    this.#tellEnd(loop, end)
    const takeDown = async (): Promise<void> => {
      const session = await this.#options.session().get(this.#options.closing)
      await this.takeDown(session, loop)
    }
    this.inTurn(loop.record.room_id, loop.record.user_id, never, takeDown).catch((error: unknown) => {
      this.#options.logger.debug({ err: error }, 'a camera could not be taken out of a Janus node yet')
    })
  }

  #tellDrift(kind: DriftKind, loops: readonly Loop[]): void {
    const subjects = loops.map(({ record }) => record.user_id)
    if (subjects.length > 0) this.#options.emit({ type: 'drifted', kind, subjects })
  }

  #tellEnd(loop: Loop, end: LoopEnd): void {
    loop.state = 'over'
    const { emit } = this.#options
    const { room_id: roomId, user_id: userId } = loop.record
    if (end.type === 'left') emit({ type: 'left', roomId, userId })
    else emit({ type: 'deviceLost', roomId, userId, kind: end.kind, detail: end.detail })
  }
}
