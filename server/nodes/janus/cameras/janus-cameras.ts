import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { StoredCameraBridge } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { isShut } from '../../../schedule/room-hours.ts'
import { runWithConcurrency } from '../../port/concurrency.ts'
import { NodeConnectionError, type NodeDevice, type NodeEvent, type NodeUser } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { JanusSession, KnownHandle } from '../wire/janus-session.ts'
import { LastingSession } from '../wire/lasting-session.ts'
import { controllerToken, type JanusAccess } from '../../secrets/janus-access.ts'
import type { JanusRoomDevices, RoomsForDevices } from '../rooms/room-devices.ts'
import { CameraBridges } from './camera-bridges.ts'
import type { CameraProbe } from './camera-look.ts'
import { type Bridge, BridgeRecords, newBridge, userOf } from './bridge-table.ts'
import { cameraOf, MountpointRequests } from './mountpoint-requests.ts'
import { Mountpoints } from './mountpoints.ts'
import { Substreams } from './substreams.ts'

export interface JanusCamerasOptions {
  access: Pick<JanusAccess, 'name' | 'wsUrl' | 'secrets' | 'leadership'>
  store: Pick<Store, 'all' | 'get' | 'transact'>
  rooms: RoomsForDevices
  /** Returns the probe for cameras; undefined while no embedded node is available for it. */
  probe: () => CameraProbe | undefined
  /** Returns whether the site restricts the addresses of cameras. */
  restricted: () => boolean
  emit: (event: NodeEvent) => void
  logger: NodeLogger
  /** Returns milliseconds since the epoch. */
  clock?: () => number
  /** Time without media after which a camera counts as lost, in milliseconds. */
  stallMs?: number
  /** Time for which a second stream is still pulled after its last viewer left, in milliseconds. */
  lingerMs?: number
  /**
   * Time after claiming a session until unused mountpoints are destroyed, in milliseconds. Within this time, pages
   * resume their subscriptions.
   */
  settleMs?: number
}

/** Default of `stallMs`. The embedded node uses the same value. */
const defaultStallMs = 5_000
/** Timeout of a request, in milliseconds. Janus answers only after it has connected to the camera. */
const answerMs = 10_000
/** Number of bridges that are checked or removed at the same time. */
const width = 16
/** Default of `settleMs`. Pages reconnect within some seconds. */
const defaultSettleMs = 15_000
/** Timeout of ending the session, in milliseconds. */
const endMs = 3_000

/**
 * The cameras in the rooms of one Janus. Each is a bridge of two handles in one session, which continues without the
 * controller. Requests are compared with the existing bridges, so that a restarted controller continues with the
 * cameras that are in the rooms.
 */
export class JanusCameras implements JanusRoomDevices {
  readonly #options: JanusCamerasOptions
  readonly #records: BridgeRecords
  readonly #requests: MountpointRequests
  readonly #mountpoints: Mountpoints
  readonly #bridges: CameraBridges
  /** Second streams of the cameras, for viewers that show them small. */
  readonly small: Substreams
  readonly #session: LastingSession
  readonly #closing = new AbortController()
  /** Timer of the next search for unused mountpoints. */
  #timer: NodeJS.Timeout | undefined

  constructor(options: JanusCamerasOptions) {
    const {
      access,
      store,
      rooms,
      probe,
      restricted,
      emit,
      logger,
      clock = Date.now,
      stallMs = defaultStallMs,
      lingerMs,
    } = options
    const { api_secret: apiSecret, admin_key: adminKey, room_key: roomKey } = access.secrets
    this.#options = options
    this.#records = new BridgeRecords(store, access.name, logger)
    this.#requests = new MountpointRequests({ adminKey, roomKey })
    this.#mountpoints = new Mountpoints({ requests: this.#requests, probe, restricted, logger })
    this.#bridges = new CameraBridges({
      node: access.name,
      session: () => this.#session,
      records: this.#records,
      mountpoints: this.#mountpoints,
      requests: this.#requests,
      rooms,
      emit,
      logger,
      clock,
      stallMs,
      gone: (bridge) => this.small.bridgeEnded(bridge),
      closing: this.#closing.signal,
    })
    this.small = new Substreams({
      bridges: this.#bridges.table,
      mountpoints: this.#mountpoints,
      requests: this.#requests,
      session: () => this.#session.current,
      camera: (stream) => cameraOf(stream, roomKey),
      logger,
      stallMs,
      ...(lingerMs === undefined ? {} : { lingerMs }),
    })
    this.#session = new LastingSession({
      socket: {
        url: access.wsUrl,
        apiSecret,
        token: controllerToken(access.secrets, clock),
        leadership: access.leadership,
        logger,
        answerMs,
      },
      known: () => this.#known(),
      opened: (session, isClaimed, signal) => this.#opened(session, isClaimed, signal),
      lost: (why, isFound) => this.#bridges.lost(why, isFound),
      needed: () => this.#bridges.table.size > 0 || this.#mountpoints.leftBehind,
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
    for (const { state } of this.#bridges.table) if (state === 'up') users += 1
    return users
  }

  usersOf(roomId: string): NodeUser[] {
    const users = Array.from(this.#bridges.table.of(roomId), (bridge) =>
      bridge.state === 'up' ? [userOf(bridge.record)] : [],
    ).flat()
    return users.sort((one, other) => one.joinedAt - other.joinedAt)
  }

  holds(roomId: string, userId: string): boolean {
    return this.#bridges.table.get(roomId, userId) !== undefined
  }

  async add(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<void> {
    const camera = cameraOf(device, this.#options.access.secrets.room_key)
    const { userId } = device
    const before = this.#bridges.table.get(roomId, userId)
    if (before !== undefined) before.device = device
    const until = AbortSignal.any([signal, this.#closing.signal])
    await this.#bridges.inTurn(roomId, userId, until, async () => {
      const session = await this.#session.get(until)
      const present = this.#bridges.table.get(roomId, userId)
      if (present?.state === 'up' && present.record.mountpoint === camera.id) return
      if (present !== undefined) await this.#bridges.takeOut(session, present)
      await this.#bridges.join(session, { roomId, device, camera }, until)
    })
  }

  async remove(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#bridges.inTurn(roomId, userId, signal, async () => {
      if (!this.holds(roomId, userId)) return
      const session = await this.#session.get(signal)
      const bridge = this.#bridges.table.get(roomId, userId)
      if (bridge !== undefined) await this.#bridges.takeOut(session, bridge)
    })
  }

  async placesChanged(): Promise<void> {
    // Viewers open the streams again, subject to the current rules.
    await this.small.endAll()
    const bridges = [...this.#bridges.table]
    await runWithConcurrency(
      width,
      () => bridges.pop(),
      (bridge) => this.#checkPlace(bridge),
    )
  }

  async #checkPlace(bridge: Bridge): Promise<void> {
    const { probe, logger } = this.#options
    const { device } = bridge
    if (bridge.state !== 'up' || device === undefined) return
    try {
      const found = await probe()?.(device, this.#closing.signal)
      if (found?.kind === 'forbidden') this.#bridges.giveUp(bridge, 'forbidden', found.message)
    } catch (error) {
      logger.debug({ err: error }, 'could not check the address of a camera')
    }
  }

  /**
   * Closes the cameras. If the node is still enabled, they stay in their rooms for the next controller; otherwise they
   * are removed from the node.
   */
  async close(): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    clearTimeout(this.#timer)
    await this.#bridges.settled()
    const leave = this.#options.store.get('nodes', this.#options.access.name)?.enabled === true
    if (leave) await this.small.leave()
    else await this.small.endAll()
    for (const { unwatch } of this.#bridges.table) unwatch()
    if (!leave && this.#bridges.table.size > 0) await this.#clearNode()
    await this.#session.close(leave && this.#bridges.table.size > 0, AbortSignal.timeout(endMs))
    await this.#records.settled()
  }

  async #clearNode(): Promise<void> {
    // Without a session, the records are only deleted here: Janus ends the handles when the earlier session expires,
    // and the review of the next session destroys unused mountpoints.
    const session = await this.#session.get(AbortSignal.timeout(endMs)).catch(() => undefined)
    const bridges = [...this.#bridges.table]
    await runWithConcurrency(
      width,
      () => bridges.pop(),
      async (bridge) => {
        // If the node does not answer, the handles end with the session.
        if (session === undefined || !(await this.#bridges.takeDown(session, bridge)))
          await this.#bridges.forget(bridge, session)
      },
    )
    await this.#mountpoints.settled()
  }

  /** Loads the bridges of the previous controller. */
  #remember(): void {
    const records = this.#records.all()
    const session = records.at(-1)?.session
    for (const record of records) {
      // Bridges of an earlier session have ended with that session.
      if (record.session !== session) {
        this.#records.delete(record)
        continue
      }
      const state = record.joined_at === 0 ? 'over' : 'up'
      this.#bridges.table.add(newBridge(record, state, undefined))
      this.#mountpoints.keep(record.mountpoint)
      this.#requests.adoptControl(record.control)
    }
  }

  #known(): { id: number; handles: KnownHandle[] } | undefined {
    const handles: KnownHandle[] = [{ id: this.#requests.controlId, plugin: 'janus.plugin.streaming' }]
    let id: number | undefined
    for (const { record } of this.#bridges.table) {
      id = record.session
      handles.push(
        { id: record.publisher, plugin: 'janus.plugin.videoroom' },
        { id: record.subscriber, plugin: 'janus.plugin.streaming' },
      )
    }
    return id === undefined ? undefined : { id, handles }
  }

  async #opened(session: JanusSession, isClaimed: boolean, signal: AbortSignal): Promise<void> {
    // Pulls of the previous session do not exist in the new session.
    if (!isClaimed) await this.small.endAll()
    if (isClaimed) {
      const bridges = [...this.#bridges.table]
      await runWithConcurrency(
        width,
        () => bridges.pop(),
        (bridge) => this.#bridges.resume(session, bridge, this.#isWanted(bridge.record), signal),
      )
    }
    if (!isClaimed) return await this.#review(session, signal)
    // The review is delayed, because pages soon request the small pictures that they still receive.
    const { settleMs = defaultSettleMs } = this.#options
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => mustNotFail(this.#review(session, this.#closing.signal)), settleMs).unref()
  }

  async #review(session: JanusSession, signal: AbortSignal): Promise<void> {
    const ofCameras = this.small.mountpoints()
    try {
      const strays = (await this.#mountpoints.review(session, signal)).filter((id) => !ofCameras.has(id))
      // The ids of mountpoints mean nothing to an operator.
      if (strays.length > 0)
        this.#options.emit({ type: 'drifted', kind: 'cameraUnknown', subjects: strays.map(() => '') })
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not list the mountpoints of a Janus node')
    }
  }

  #isWanted({ room_id, user_id, node }: StoredCameraBridge): boolean {
    const { store } = this.#options
    const device = store.get('devices', user_id)
    const room = store.get('rooms', room_id)
    return device?.roomId === room_id && !device.paused && room?.node === node && !isShut(room)
  }
}
