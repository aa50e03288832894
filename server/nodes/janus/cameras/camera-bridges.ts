import type { DeviceErrorKind } from '../../../../shared/device.ts'
import { inBackground, mustNotFail } from '../../../../shared/unawaited.ts'
import type { StoredCameraBridge } from '../../../store/records.ts'
import { DeviceJoinError, NodeConnectionError, type NodeDevice, type NodeEvent } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { LastingSession } from '../wire/lasting-session.ts'
import type { RoomsForDevices } from '../rooms/room-devices.ts'
import {
  attachBridge,
  type BridgeEnd,
  type BridgeHandles,
  connectBridge,
  leaveBridge,
  watchBridge,
} from './bridge-connection.ts'
import { type Bridge, type BridgeRecords, BridgeTable, newBridge, userOf } from './bridge-table.ts'
import type { Camera, MountpointRequests } from './mountpoint-requests.ts'
import type { Mountpoints } from './mountpoints.ts'
import type { DriftKind } from '../../../../shared/domain/nodes.ts'
import { listParticipants } from '../rooms/janus-rooms.ts'
import { unlessAborted } from '../../../../shared/abort.ts'

export interface CameraBridgesOptions {
  node: string
  session: () => Pick<LastingSession, 'get' | 'current'>
  records: BridgeRecords
  mountpoints: Mountpoints
  requests: MountpointRequests
  rooms: RoomsForDevices
  emit: (event: NodeEvent) => void
  logger: NodeLogger
  /** Returns milliseconds since the epoch. */
  clock: () => number
  /** Time without media after which a camera counts as lost, in milliseconds. */
  stallMs: number
  /** Called for each bridge that was removed. */
  gone: (bridge: Bridge) => void
  /** Aborts when the node goes out of service. */
  closing: AbortSignal
}

/** Parameters of a bridge to create. */
export interface WantedBridge {
  roomId: string
  device: NodeDevice
  camera: Camera
}

/** Timeout of removing one bridge, in milliseconds. */
const detachMs = 3_000
const never = new AbortController().signal

/** The bridges of a node, from joining to removal. Each bridge makes one camera a participant of one room. */
export class CameraBridges {
  readonly table = new BridgeTable()
  /** Serializes operations on the same bridge. */
  readonly #queue = new CameraQueue()
  readonly #options: CameraBridgesOptions

  constructor(options: CameraBridgesOptions) {
    this.#options = options
  }

  /**
   * Runs an operation after all earlier operations for the same camera and room.
   * @throws the signal's reason; any error of `run`
   */
  inTurn<T>(roomId: string, userId: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    return this.#queue.take(JSON.stringify([roomId, userId]), signal, run)
  }

  /** Resolves when all pending operations have ended. */
  async settled(): Promise<void> {
    await this.#queue.settled()
  }

  /**
   * Adds a camera to its room. Resolves when its video flows there.
   * @throws DeviceJoinError, NodeError; the signal's reason
   */
  async join(session: JanusSession, wanted: WantedBridge, signal: AbortSignal, isSecond = false): Promise<void> {
    const { roomId, device, camera } = wanted
    const { userId, userName } = device
    const { rooms, mountpoints, records, clock } = this.#options
    const admission = await rooms.admit(roomId, device, signal)
    await mountpoints.hold(session, camera, signal)
    const { bridge, handles } = await this.#attach(session, wanted, signal)
    try {
      const join = { room: roomId, id: userId, display: userName, ...admission }
      await connectBridge(handles, { mountpoint: camera, join }, signal)
      signal.throwIfAborted()
    } catch (error) {
      await this.takeDown(session, bridge)
      if (!isJanusError(error, janusCodes.idTaken)) throw error
      // The id belongs either to a bridge without a record, which `clear` removes, or to a person.
      if (isSecond || !(await rooms.clear(roomId, userId, signal))) {
        throw new DeviceJoinError('nodeFailed', 'Somebody with this userId is in the room.', { cause: error })
      }
      return await this.join(session, wanted, signal, true)
    }
    bridge.state = 'up'
    bridge.record.joined_at = clock()
    records.put(bridge.record)
    this.#watch(bridge, handles, 0)
  }

  /**
   * Continues a bridge of a claimed session, or removes it.
   * @param isWanted whether the camera belongs in the room, according to the store
   */
  async resume(session: JanusSession, bridge: Bridge, isWanted: boolean, signal: AbortSignal): Promise<void> {
    const { requests, rooms, stallMs } = this.#options
    const { record } = bridge
    if (bridge.state === 'up' && bridge.device === undefined && !isWanted) {
      this.#reportDrift('cameraUnknown', [bridge])
      return await this.takeOut(session, bridge)
    }
    if (bridge.state !== 'up') return void (await this.takeDown(session, bridge))
    const handles = handlesOf(session, record)
    const room = await rooms.nameOf(record.room_id, signal)
    const silence = handles && (await silenceOf({ record, room }, handles, requests, signal))
    if (handles === undefined || silence === undefined || silence >= stallMs) {
      const detail = 'it was gone when the node was reached again'
      if (silence === undefined) this.#reportDrift('cameraMissing', [bridge])
      this.#ended(bridge, { type: 'lost', kind: silence === undefined ? 'closed' : 'stalled', detail })
    } else this.#watch(bridge, handles, silence)
  }

  /** Ends a bridge whose media flows, and removes the camera from the room in the background. */
  giveUp(bridge: Bridge, kind: DeviceErrorKind, detail: string): void {
    bridge.unwatch()
    this.#ended(bridge, { type: 'lost', kind, detail })
  }

  /**
   * Handles the end of the session, which ends all bridges.
   * @param isFound whether the node is reachable, but no longer has the session
   */
  lost(why: string, isFound: boolean): void {
    const up = [...this.table].filter(({ state }) => state === 'up')
    if (isFound) this.#reportDrift('cameraMissing', up)
    for (const bridge of [...this.table]) {
      if (bridge.state === 'up') this.#reportEnd(bridge, { type: 'lost', kind: 'nodeFailed', detail: why })
      bridge.unwatch()
      inBackground(
        this.forget(bridge, undefined),
        'a camera of a lost session could not be given up',
        this.#options.logger,
      )
    }
  }

  /**
   * Removes a camera from its room. If the connection is lost meanwhile, the camera is removed when the session is
   * claimed.
   * @throws NodeConnectionError
   */
  async takeOut(session: JanusSession, bridge: Bridge): Promise<void> {
    if (bridge.state === 'up') this.#reportEnd(bridge, { type: 'left' })
    if (!(await this.takeDown(session, bridge))) throw new NodeConnectionError('the connection to the node was lost')
  }

  /**
   * Removes both handles, and releases the mountpoint. Resolves to false if Janus was unreachable; the next claimant of
   * the session then removes the handles. Never rejects.
   */
  async takeDown(session: JanusSession, bridge: Bridge): Promise<boolean> {
    bridge.state = 'over'
    bridge.unwatch()
    if (!this.table.has(bridge)) return true
    const { publisher, subscriber } = bridge.record
    const live = session.isOpen ? session : this.#options.session().current
    if (live === undefined) return false
    try {
      // Handles of an earlier session have ended with that session.
      if (live.id === bridge.record.session) {
        await leaveBridge(live.handle(publisher), live.handle(subscriber), AbortSignal.timeout(detachMs))
      }
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not remove a camera from a Janus node: trying again later')
      return false
    }
    await this.forget(bridge, live)
    return true
  }

  /**
   * Removes a bridge from the table, and releases its mountpoint. Resolves when an unused mountpoint is destroyed.
   * @param session undefined: Janus is unreachable now
   */
  async forget(bridge: Bridge, session: JanusSession | undefined): Promise<void> {
    if (!this.table.has(bridge)) return
    this.table.delete(bridge)
    this.#options.gone(bridge)
    this.#options.records.delete(bridge.record)
    await this.#options.mountpoints.release(session, bridge.record.mountpoint)
  }

  /** Attaches the handles of a bridge, and registers the bridge, so that a later failure also removes it. */
  async #attach(
    session: JanusSession,
    { roomId, device, camera }: WantedBridge,
    signal: AbortSignal,
  ): Promise<{ bridge: Bridge; handles: BridgeHandles }> {
    const { node, mountpoints, requests, records } = this.#options
    let handles: BridgeHandles
    try {
      handles = await attachBridge(session, signal)
    } catch (error) {
      await mountpoints.release(session, camera.id)
      throw error
    }
    const record: StoredCameraBridge = {
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
    const bridge = newBridge(record, 'joining', device)
    this.table.add(bridge)
    records.put(record)
    return { bridge, handles }
  }

  #watch(bridge: Bridge, handles: BridgeHandles, silence: number): void {
    const { stallMs, requests, emit } = this.#options
    bridge.unwatch = watchBridge(handles, {
      stallMs,
      silence,
      askSilence: () => requests.silenceOf(handles.subscriber, bridge.record.mountpoint, never),
      onEnd: (end) => this.#ended(bridge, end),
    })
    if (bridge.isReported) return
    bridge.isReported = true
    emit({ type: 'joined', roomId: bridge.record.room_id, user: userOf(bridge.record) })
  }

  /** Reports that the bridge ended, and removes its remains in the background. */
  #ended(bridge: Bridge, end: BridgeEnd): void {
    if (bridge.state !== 'up') return
    this.#reportEnd(bridge, end)
    const takeDown = async (): Promise<void> => {
      const session = await this.#options.session().get(this.#options.closing)
      await this.takeDown(session, bridge)
    }
    this.inTurn(bridge.record.room_id, bridge.record.user_id, never, takeDown).catch((error: unknown) => {
      this.#options.logger.debug({ err: error }, 'could not remove a camera from a Janus node: trying again later')
    })
  }

  #reportDrift(kind: DriftKind, bridges: readonly Bridge[]): void {
    const subjects = bridges.map(({ record }) => record.user_id)
    if (subjects.length > 0) this.#options.emit({ type: 'drifted', kind, subjects })
  }

  #reportEnd(bridge: Bridge, end: BridgeEnd): void {
    bridge.state = 'over'
    const { emit } = this.#options
    const { room_id: roomId, user_id: userId } = bridge.record
    if (end.type === 'left') emit({ type: 'left', roomId, userId })
    else emit({ type: 'deviceLost', roomId, userId, kind: end.kind, detail: end.detail })
  }
}

/** Returns the handles of a bridge in a claimed session; undefined if one of them was detached. */
function handlesOf(session: JanusSession, record: StoredCameraBridge): BridgeHandles | undefined {
  const publisher = session.handle(record.publisher)
  const subscriber = session.handle(record.subscriber)
  return publisher === undefined || subscriber === undefined ? undefined : { publisher, subscriber }
}

/**
 * Returns the time without media of a bridge, in milliseconds; undefined if the bridge has ended. Both ends are
 * queried, because events are lost while there is no listener.
 * @param room name of the room on the node
 * @throws NodeError; the signal's reason
 */
async function silenceOf(
  { record, room }: { record: StoredCameraBridge; room: string },
  { publisher, subscriber }: BridgeHandles,
  requests: Pick<MountpointRequests, 'silenceOf'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const [listed, silence] = await Promise.all([
      listParticipants(publisher, room, signal),
      requests.silenceOf(subscriber, record.mountpoint, signal),
    ])
    const isThere = listed.some(({ id, publisher: publishes }) => id === record.user_id && publishes)
    return isThere ? silence : undefined
  } catch (error) {
    const { noHandle, noRoom, noMountpoint } = janusCodes
    if (isJanusError(error, noHandle, noRoom, noMountpoint)) return undefined
    throw error
  }
}

/** Serializes operations with the same key, in the order of the calls. Different keys are independent. */
class CameraQueue {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * Runs an operation after all earlier operations with the same key have ended.
   * @throws the signal's reason if it aborts meanwhile; any error of `run`
   */
  async take<T>(key: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const done = Promise.withResolvers<void>()
    const turn = before.then(() => done.promise)
    this.#last.set(key, turn)
    const forgotten = turn.then(() => {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    })
    mustNotFail(forgotten)
    try {
      await unlessAborted(before, signal)
      return await run()
    } finally {
      done.resolve()
    }
  }

  /** Resolves when all queued operations have ended. */
  async settled(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}
