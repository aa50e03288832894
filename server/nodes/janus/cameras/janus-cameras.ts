import type { StoredCameraLoop } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inLanes } from '../../lanes.ts'
import {
  DeviceJoinError,
  NodeConnectionError,
  type NodeDevice,
  type NodeEvent,
  type NodeUser,
} from '../../media-node.ts'
import type { NodeLogger } from '../../node-failure.ts'
import { isJanusError, janusCodes } from '../janus-error.ts'
import type { JanusSession, KnownHandle } from '../janus-session.ts'
import { LastingSession } from '../lasting-session.ts'
import type { JanusAccess } from '../node-access.ts'
import type { RoomDevices, RoomsForDevices } from '../room-devices.ts'
import { ownCoreToken } from '../signed-token.ts'
import type { Camera } from './camera-key.ts'
import type { CameraProbe } from './camera-probe.ts'
import { attachLoop, connectLoop, leaveLoop, type LoopHandles } from './loop-joining.ts'
import { LoopRecords } from './loop-records.ts'
import { handlesOf, silenceOf } from './loop-claiming.ts'
import { type Loop, LoopTable, newLoop, userOf } from './loop-table.ts'
import { type LoopEnd, watchLoop } from './loop-watch.ts'
import { Mountpoints } from './mountpoints.ts'
import { Turns } from './turns.ts'

/** What the cameras of a node are made of. */
export interface JanusCamerasOptions {
  access: Pick<JanusAccess, 'name' | 'wsUrl' | 'secrets'>
  store: Pick<Store, 'all' | 'get' | 'transact'>
  rooms: RoomsForDevices
  /** What looks at a camera first; undefined while none can. */
  probe: () => CameraProbe | undefined
  emit: (event: NodeEvent) => void
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** How long a camera may be silent, in milliseconds. */
  stallMs?: number
}

/** As for the embedded node. */
const defaultStallMs = 5_000
/** Janus answers after it has called a camera, which may take so long, in milliseconds. */
const answerMs = 10_000
/** How long a token of ours counts: each is used once, but clocks differ. */
const tokenSeconds = 3_600
/** Loops that are looked at or taken down at a time. */
const width = 16
/** How long the end of one loop may take, in milliseconds. */
const detachMs = 3_000
const never = new AbortController().signal

/**
 * The cameras in the rooms of one Janus: each a loop of two handles in one session, which lives on without the controller. Whatever is asked for is compared with what is there,
 * so that a controller which started again finds its cameras where they are.
 */
export class JanusCameras implements RoomDevices {
  readonly #options: JanusCamerasOptions
  readonly #clock: () => number
  readonly #stallMs: number
  readonly #records: LoopRecords
  readonly #mountpoints: Mountpoints
  readonly #session: LastingSession
  readonly #loops = new LoopTable()
  readonly #turns = new Turns()
  readonly #closing = new AbortController()

  constructor(options: JanusCamerasOptions) {
    const { access, store, probe, logger, clock = Date.now, stallMs = defaultStallMs } = options
    const { api_secret: apiSecret, admin_key: adminKey, room_key: roomKey, token_secret } = access.secrets
    this.#options = options
    this.#clock = clock
    this.#stallMs = stallMs
    this.#records = new LoopRecords(store, access.name, logger)
    this.#mountpoints = new Mountpoints({ adminKey, roomKey, probe, logger })
    const token = (): string => ownCoreToken(token_secret, Math.ceil(clock() / 1_000) + tokenSeconds)
    this.#session = new LastingSession({
      socket: {
        url: access.wsUrl,
        apiSecret,
        token: token_secret === '' ? undefined : token,
        logger,
        answerMs,
      },
      known: () => this.#known(),
      opened: (session, isClaimed, signal) => this.#opened(session, isClaimed, signal),
      lost: (why) => this.#lost(why),
      needed: () => this.#loops.size > 0 || this.#mountpoints.leftBehind,
      logger,
    })
    this.#remember()
    this.#session.start()
  }

  get pulls(): number {
    return this.#mountpoints.size
  }

  get users(): number {
    let users = 0
    for (const { state } of this.#loops) if (state === 'up') users += 1
    return users
  }

  usersOf(roomId: string): NodeUser[] {
    const users = Array.from(this.#loops.of(roomId), (loop) =>
      loop.state === 'up' ? [userOf(loop.record)] : [],
    ).flat()
    return users.sort((one, other) => one.joinedAt - other.joinedAt)
  }

  holds(roomId: string, userId: string): boolean {
    return this.#loops.get(roomId, userId) !== undefined
  }

  /** As MediaNode.addDevice. */
  async add(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<void> {
    const camera = this.#mountpoints.camera(device)
    const { userId } = device
    const before = this.#loops.get(roomId, userId)
    if (before !== undefined) before.isAsked = true
    const until = AbortSignal.any([signal, this.#closing.signal])
    await this.#turns.take(keyOf(roomId, userId), until, async () => {
      const session = await this.#session.get(until)
      const present = this.#loops.get(roomId, userId)
      if (present?.state === 'up' && present.record.mountpoint === camera.id) return
      if (present !== undefined) await this.#takeOut(session, present)
      await this.#join(session, { roomId, device, camera }, until)
    })
  }

  /** As MediaNode.removeDevice. */
  async remove(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#turns.take(keyOf(roomId, userId), signal, async () => {
      if (!this.holds(roomId, userId)) return
      const session = await this.#session.get(signal)
      const loop = this.#loops.get(roomId, userId)
      if (loop !== undefined) await this.#takeOut(session, loop)
    })
  }

  /** While the node is in service its cameras stay in their rooms, for the next controller; otherwise nothing of them stays on the node. */
  async close(): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    await this.#turns.settled()
    for (const { unwatch } of this.#loops) unwatch()
    const leave = this.#options.store.get('nodes', this.#options.access.name)?.enabled === true
    if (!leave && this.#loops.size > 0) await this.#clearNode()
    await this.#session.close(leave && this.#loops.size > 0, AbortSignal.timeout(detachMs))
    await this.#records.settled()
  }

  async #clearNode(): Promise<void> {
    const session = await this.#session.get(AbortSignal.timeout(detachMs)).catch(() => undefined)
    const loops = [...this.#loops]
    await inLanes(
      width,
      () => loops.pop(),
      async (loop) => {
        // A node that does not answer ends the session by itself.
        if (session === undefined || !(await this.#takeDown(session, loop))) await this.#forget(loop, session)
      },
    )
    await this.#mountpoints.settled()
  }

  /** What the controller of before left. */
  #remember(): void {
    const records = this.#records.all()
    const session = records.at(-1)?.session
    for (const record of records) {
      // That of an earlier session ended with it.
      if (record.session !== session) {
        this.#records.delete(record)
        continue
      }
      const state = record.joined_at === 0 ? 'over' : 'up'
      this.#loops.add(newLoop(record, state, false))
      this.#mountpoints.keep(record.mountpoint)
      this.#mountpoints.adoptControl(record.control)
    }
  }

  #known(): { id: number; handles: KnownHandle[] } | undefined {
    const handles: KnownHandle[] = [{ id: this.#mountpoints.controlId, plugin: 'janus.plugin.streaming' }]
    let id: number | undefined
    for (const { record } of this.#loops) {
      id = record.session
      handles.push(
        { id: record.publisher, plugin: 'janus.plugin.videoroom' },
        { id: record.subscriber, plugin: 'janus.plugin.streaming' },
      )
    }
    return id === undefined ? undefined : { id, handles }
  }

  async #opened(session: JanusSession, isClaimed: boolean, signal: AbortSignal): Promise<void> {
    if (isClaimed) {
      const loops = [...this.#loops]
      await inLanes(
        width,
        () => loops.pop(),
        (loop) => this.#resume(session, loop, signal),
      )
    }
    try {
      await this.#mountpoints.review(session, signal)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'the mountpoints of a Janus node could not be looked at')
    }
  }

  /** A loop of a session that was claimed: it goes on, or is taken down. */
  async #resume(session: JanusSession, loop: Loop, signal: AbortSignal): Promise<void> {
    if (loop.state === 'up' && !loop.isAsked && !this.#isWanted(loop.record)) return await this.#takeOut(session, loop)
    if (loop.state !== 'up') return void (await this.#takeDown(session, loop))
    const handles = handlesOf(session, loop.record)
    const silence = handles && (await silenceOf(loop.record, handles, this.#mountpoints, signal))
    if (handles === undefined || silence === undefined || silence >= this.#stallMs) {
      const detail = 'it was gone when the node was reached again'
      this.#ended(loop, { type: 'lost', kind: silence === undefined ? 'closed' : 'stalled', detail })
    } else this.#watch(loop, handles, silence)
  }

  #isWanted({ room_id, user_id, node }: StoredCameraLoop): boolean {
    const { store } = this.#options
    const device = store.get('devices', user_id)
    const room = store.get('rooms', room_id)
    return device?.roomId === room_id && !device.paused && room?.node === node && !room.closed
  }

  async #join(
    session: JanusSession,
    wanted: { roomId: string; device: NodeDevice; camera: Camera },
    signal: AbortSignal,
    isSecond = false,
  ): Promise<void> {
    const { roomId, device, camera } = wanted
    const { userId, userName } = device
    const { rooms } = this.#options
    const admission = await rooms.admit(roomId, device, signal)
    await this.#mountpoints.hold(session, camera, signal)
    const { loop, handles } = await this.#attach(session, wanted, signal)
    try {
      const join = { room: roomId, id: userId, display: userName, ...admission }
      await connectLoop(handles, { mountpoint: camera, join }, signal)
      signal.throwIfAborted()
    } catch (error) {
      await this.#takeDown(session, loop)
      if (!isJanusError(error, janusCodes.idTaken)) throw error
      // One of ours that nobody knew any more, or a person.
      if (isSecond || !(await rooms.clear(roomId, userId, signal))) {
        throw new DeviceJoinError('nodeFailed', 'Somebody with this userId is in the room.', { cause: error })
      }
      return await this.#join(session, wanted, signal, true)
    }
    loop.state = 'up'
    loop.record.joined_at = this.#clock()
    this.#records.put(loop.record)
    this.#watch(loop, handles, 0)
  }

  /** The handles of a loop, which is known from now on: whatever becomes of it, it is taken down. */
  async #attach(
    session: JanusSession,
    { roomId, device, camera }: { roomId: string; device: NodeDevice; camera: Camera },
    signal: AbortSignal,
  ): Promise<{ loop: Loop; handles: LoopHandles }> {
    let handles: LoopHandles
    try {
      handles = await attachLoop(session, signal)
    } catch (error) {
      await this.#mountpoints.release(session, camera.id)
      throw error
    }
    const record: StoredCameraLoop = {
      node: this.#options.access.name,
      room_id: roomId,
      user_id: device.userId,
      user_name: device.userName,
      session: session.id,
      publisher: handles.publisher.id,
      subscriber: handles.subscriber.id,
      control: this.#mountpoints.controlId,
      mountpoint: camera.id,
      joined_at: 0,
    }
    const loop = newLoop(record, 'joining', true)
    this.#loops.add(loop)
    this.#records.put(record)
    return { loop, handles }
  }

  #watch(loop: Loop, handles: LoopHandles, silence: number): void {
    loop.unwatch = watchLoop(handles, {
      stallMs: this.#stallMs,
      silence,
      askSilence: () => this.#mountpoints.silenceOf(handles.subscriber, loop.record.mountpoint, never),
      onEnd: (end) => this.#ended(loop, end),
    })
    if (loop.isTold) return
    loop.isTold = true
    this.#options.emit({ type: 'joined', roomId: loop.record.room_id, user: userOf(loop.record) })
  }

  /** It ended by itself: what is left of it goes. */
  #ended(loop: Loop, end: LoopEnd): void {
    if (loop.state !== 'up') return
    this.#tellEnd(loop, end)
    const takeDown = async (): Promise<void> => {
      const session = await this.#session.get(this.#closing.signal)
      await this.#takeDown(session, loop)
    }
    this.#turns.take(keyOf(loop.record.room_id, loop.record.user_id), never, takeDown).catch((error: unknown) => {
      this.#options.logger.debug({ err: error }, 'a camera could not be taken out of a Janus node yet')
    })
  }

  /** The session is over, and everything with it. */
  #lost(why: string): void {
    for (const loop of [...this.#loops]) {
      if (loop.state === 'up') this.#tellEnd(loop, { type: 'lost', kind: 'nodeFailed', detail: why })
      loop.unwatch()
      void this.#forget(loop, undefined)
    }
  }

  /** It is to be out of the room: it is when this resolves, or when the session is claimed. @throws NodeConnectionError */
  async #takeOut(session: JanusSession, loop: Loop): Promise<void> {
    if (loop.state === 'up') this.#tellEnd(loop, { type: 'left' })
    if (!(await this.#takeDown(session, loop))) throw new NodeConnectionError('the connection to the node was lost')
  }

  #tellEnd(loop: Loop, end: LoopEnd): void {
    loop.state = 'over'
    const { room_id: roomId, user_id: userId } = loop.record
    if (end.type === 'left') this.#options.emit({ type: 'left', roomId, userId })
    else this.#options.emit({ type: 'deviceLost', roomId, userId, kind: end.kind, detail: end.detail })
  }

  /** Takes both handles and its part of the mountpoint away. Resolves to false when Janus could not be told: whoever claims the session does it. Never rejects. */
  async #takeDown(session: JanusSession, loop: Loop): Promise<boolean> {
    loop.state = 'over'
    loop.unwatch()
    if (!this.#loops.has(loop)) return true
    const { publisher, subscriber } = loop.record
    const live = session.isOpen ? session : this.#session.current
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
    await this.#forget(loop, live)
    return true
  }

  /** It is gone. Resolves when its mountpoint is, where nobody else has it. */
  async #forget(loop: Loop, session: JanusSession | undefined): Promise<void> {
    if (!this.#loops.has(loop)) return
    this.#loops.delete(loop)
    this.#records.delete(loop.record)
    await this.#mountpoints.release(session, loop.record.mountpoint)
  }
}

function keyOf(roomId: string, userId: string): string {
  return JSON.stringify([roomId, userId])
}
