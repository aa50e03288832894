import type { Deadline } from '../../../shared/deadline.ts'
import {
  type MediaNode,
  type NodeDevice,
  NodeError,
  type NodeEvent,
  type NodeHealth,
  type NodeProgram,
  type NodeRoom,
  type NodeUser,
} from '../port/media-node-port.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { NodeOccupancy, type NodeOccupancyOptions } from './rooms/node-occupancy.ts'
import { OwnRequests } from './rooms/own-requests.ts'
import { type AdmissionRequest, notOpen } from './rooms/room-admission.ts'
import { ReportedProgram } from './wire/node-traits.ts'

export interface JanusNodeOptions extends NodeOccupancyOptions {
  name: string
  /** Called when the driver was closed. */
  released: () => void
  logger: NodeLogger
}

/** Driver of one Janus server. Sends requests to the server's VideoRoom plugin, and receives the server's events. */
export class JanusNode implements MediaNode {
  /** The rooms, and their users. */
  readonly occupancy: NodeOccupancy
  readonly #options: JanusNodeOptions
  readonly #requests: OwnRequests
  readonly #program: ReportedProgram
  readonly #listeners = new Set<(event: NodeEvent) => void>()

  constructor(options: JanusNodeOptions) {
    const { name, logger, traits, clock = Date.now } = options
    this.#options = options
    this.#requests = new OwnRequests(name, logger)
    this.#program = new ReportedProgram(traits, clock, () => this.#notify({ type: 'described' }))
    this.occupancy = new NodeOccupancy(options, this.#requests, (event) => this.#notify(event))
  }

  async openRoom(room: NodeRoom, signal: AbortSignal): Promise<void> {
    this.#requests.assertOpen()
    if (room.mode > 2) throw new NodeError('rooms of mode 3 and 4 are not put on Janus nodes')
    await this.occupancy.rooms.open(room, signal)
  }

  async closeRoom(roomId: string, signal: AbortSignal): Promise<void> {
    this.#requests.assertOpen()
    await this.occupancy.rooms.destroy(roomId, signal)
    this.occupancy.entry.forget(roomId)
  }

  async users(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    this.#requests.assertOpen()
    return await this.occupancy.usersOf(roomId, signal)
  }

  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    this.#requests.assertOpen()
    const { devices, entry, removal } = this.occupancy
    if (!devices.holds(roomId, userId)) return await removal.kick(roomId, userId, signal)
    const isThere = devices.usersOf(roomId).some((user) => user.userId === userId)
    entry.forgetDevice(roomId, userId)
    await devices.remove(roomId, userId, signal)
    return isThere
  }

  async addDevice(roomId: string, device: NodeDevice, { signal }: Deadline): Promise<void> {
    this.#requests.assertOpen()
    if (!this.occupancy.rooms.has(roomId)) throw notOpen()
    await this.occupancy.devices.add(roomId, device, signal)
  }

  async removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#requests.assertOpen()
    const { devices, entry, admission } = this.occupancy
    entry.forgetDevice(roomId, userId)
    await devices.remove(roomId, userId, signal)
    await admission.takeBack(roomId, userId, signal)
  }

  async rooms(signal: AbortSignal): Promise<string[]> {
    this.#requests.assertOpen()
    return await this.occupancy.rooms.list(signal)
  }

  async health(signal: AbortSignal): Promise<NodeHealth> {
    this.#requests.assertOpen()
    const { rooms, participants, devices, isReporting } = this.occupancy
    try {
      if (isReporting && rooms.isFresh) await this.#options.rooms.ping(signal)
      else await rooms.list(signal)
    } catch (error) {
      // The next answer may come from another process with another configuration.
      this.#options.traits.forget()
      rooms.doubt()
      throw error
    }
    this.#program.review()
    return { rooms: rooms.size, users: participants.users + devices.users, pulls: devices.pulls }
  }

  /** See RoomAdmission.admit. */
  async admit(request: AdmissionRequest, signal: AbortSignal): Promise<string> {
    this.#requests.assertOpen()
    return await this.occupancy.entry.admit(request, signal)
  }

  async revoke(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#requests.assertOpen()
    await this.occupancy.admission.takeBack(roomId, userId, signal)
  }

  async displace(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#requests.assertOpen()
    await this.occupancy.removal.displace(roomId, userId, signal)
  }

  /**
   * Displaces a user who lost their connection to Janus's own API. All other users are connected through the
   * controller, which reconnects.
   */
  async displaceLost(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    const { participants, devices } = this.occupancy
    const isPerson = participants.user(roomId, userId) !== undefined && !devices.holds(roomId, userId)
    if (isPerson && this.#options.visitors.personOf(roomId, userId) === undefined)
      await this.displace(roomId, userId, signal)
  }

  get program(): NodeProgram | undefined {
    return this.#program.value
  }

  /** Sets whether the node is connected to the event port. */
  reporting(reporting: boolean): void {
    this.#program.reporting(reporting)
    this.occupancy.reporting(reporting)
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    if (this.#requests.haveEnded) return
    this.#requests.end()
    this.#listeners.clear()
    try {
      await this.occupancy.devices.close()
    } finally {
      this.#options.released()
    }
  }

  #notify(event: NodeEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
