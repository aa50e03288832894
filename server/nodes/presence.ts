import type { NodeUser } from './media-node.ts'

/** Who is in a room, and on which node. */
interface RoomPresence {
  node: string
  people: number
  /** In the order they joined. */
  users: Map<string, NodeUser>
}

/** What of a node's load comes from presence. */
interface NodePresence {
  people: number
  devices: number
  /** Rooms with somebody in them. */
  rooms: Set<string>
}

/** People and devices in rooms. */
export interface PresenceTotals {
  people: number
  devices: number
}

/** Somebody who is no longer in a room. */
export interface Departure {
  roomId: string
  user: NodeUser
}

const nobody: readonly NodeUser[] = []

/** Who is in which room on which node, as the nodes told. Every change and every count is O(1); it holds rooms with somebody in them only. */
export class Presence {
  readonly #rooms = new Map<string, RoomPresence>()
  readonly #nodes = new Map<string, NodePresence>()
  #people = 0
  #devices = 0

  totals(): PresenceTotals {
    return { people: this.#people, devices: this.#devices }
  }

  /** Rooms with somebody in them. */
  get occupiedRooms(): number {
    return this.#rooms.size
  }

  /** Users of a room in the order they joined. */
  usersOf(roomId: string): readonly NodeUser[] {
    const room = this.#rooms.get(roomId)
    return room === undefined ? nobody : [...room.users.values()]
  }

  user(roomId: string, userId: string): NodeUser | undefined {
    return this.#rooms.get(roomId)?.users.get(userId)
  }

  /** Somebody is in the room, a person or a device. */
  occupied(roomId: string): boolean {
    return this.#rooms.has(roomId)
  }

  /** How many users the room has, devices included. */
  count(roomId: string): number {
    return this.#rooms.get(roomId)?.users.size ?? 0
  }

  /** How many of the room's users are people. */
  peopleIn(roomId: string): number {
    return this.#rooms.get(roomId)?.people ?? 0
  }

  /** People and devices on a node. */
  usersOn(node: string): number {
    const load = this.#nodes.get(node)
    return load === undefined ? 0 : load.people + load.devices
  }

  /** Devices on a node. */
  devicesOn(node: string): number {
    return this.#nodes.get(node)?.devices ?? 0
  }

  /** People on a node. */
  peopleOn(node: string): number {
    return this.#nodes.get(node)?.people ?? 0
  }

  /** Rooms of the node with somebody in them, as they are now. */
  roomsOn(node: string): string[] {
    return [...(this.#nodes.get(node)?.rooms ?? [])]
  }

  /** The node that the room's users are on. */
  nodeOf(roomId: string): string | undefined {
    return this.#rooms.get(roomId)?.node
  }

  /** Somebody joined. Who is in the room already under that userId must have left before. */
  join(node: string, roomId: string, user: NodeUser): void {
    let room = this.#rooms.get(roomId)
    const load = this.#load(node)
    if (room === undefined) {
      room = { node, people: 0, users: new Map() }
      this.#rooms.set(roomId, room)
      load.rooms.add(roomId)
    }
    room.users.set(user.userId, user)
    if (user.device) {
      load.devices += 1
      this.#devices += 1
      return
    }
    room.people += 1
    load.people += 1
    this.#people += 1
  }

  /** What is known of somebody changed while they are in the room. Returns false when this is not a stay that is known. */
  change(roomId: string, user: NodeUser): boolean {
    const known = this.#rooms.get(roomId)?.users
    const before = known?.get(user.userId)
    if (before?.joinedAt !== user.joinedAt || before.device !== user.device) return false
    known?.set(user.userId, user)
    return true
  }

  /** Somebody left; returns who, or undefined when nobody of that userId was there. */
  leave(roomId: string, userId: string): NodeUser | undefined {
    const room = this.#rooms.get(roomId)
    const user = room?.users.get(userId)
    if (room === undefined || user === undefined) return undefined
    const load = this.#load(room.node)
    room.users.delete(userId)
    if (user.device) {
      load.devices -= 1
      this.#devices -= 1
    } else {
      room.people -= 1
      load.people -= 1
      this.#people -= 1
    }
    if (room.users.size === 0) {
      this.#rooms.delete(roomId)
      load.rooms.delete(roomId)
      if (load.rooms.size === 0) this.#nodes.delete(room.node)
    }
    return user
  }

  /** Everybody left the room; returns who. */
  clear(roomId: string): Departure[] {
    const departures: Departure[] = []
    for (const userId of [...(this.#rooms.get(roomId)?.users.keys() ?? [])]) {
      const user = this.leave(roomId, userId)
      if (user !== undefined) departures.push({ roomId, user })
    }
    return departures
  }

  #load(node: string): NodePresence {
    let load = this.#nodes.get(node)
    if (load === undefined) {
      load = { people: 0, devices: 0, rooms: new Set() }
      this.#nodes.set(node, load)
    }
    return load
  }
}
