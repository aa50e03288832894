import { z } from 'zod'
import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import { derivedSecret, type JanusSecrets, ownMark } from '../../secrets/janus-access.ts'
import type { JanusFields, PluginRequests } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle } from '../wire/janus-handle.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import type { JanusRoomNames } from './room-names.ts'

/** A room of this site in the node's list. */
export interface ListedRoom {
  roomId: string
  /** Name on the node. */
  name: string
  /** Number of participants who joined as publishers, whether they publish or not. */
  participants: number
  /** Whether the room's fixed settings or name differ from those of a room created now. */
  outdated: boolean
}

/** A participant in the node's list of a room. */
export interface ListedParticipant {
  id: string
  display: string
}

const plugin = 'janus.plugin.videoroom'
/** Codecs that browsers and cameras have in common, in order of preference. */
const codecs = { audiocodec: 'opus,pcmu,pcma,g722', videocodec: 'vp8,h264,vp9,av1' }
/** Janus reports a participant as speaking if the average level of 20 packets (400 ms) is above -50 dBov (RFC 6464). */
const levels = { audiolevel_event: true, audio_active_packets: 20, audio_level_average: 50 }

const listSchema = z.object({
  list: z.array(
    z.looseObject({
      // A number on a node without `string_ids`. Rooms of this site always have string names.
      room: z.union([z.string(), z.number()]),
      description: z.string().default(''),
      num_participants: z.number().default(0),
    }),
  ),
})
const participantsSchema = z.object({
  participants: z.array(z.looseObject({ id: z.union([z.string(), z.number()]), display: z.string().default('') })),
})
const allowedSchema = z.object({ allowed: z.array(z.string()).default([]) })

/** Rooms of this site on one node, as stateless requests to its VideoRoom plugin. */
export class JanusRooms {
  readonly #requests: PluginRequests
  readonly #secrets: JanusSecrets
  readonly #names: JanusRoomNames
  readonly #traits: Pick<NodeTraits, 'current'>
  readonly #mark: string

  constructor(
    requests: PluginRequests,
    secrets: JanusSecrets,
    names: JanusRoomNames,
    traits: Pick<NodeTraits, 'current'>,
  ) {
    this.#requests = requests
    this.#secrets = secrets
    this.#names = names
    this.#traits = traits
    this.#mark = ownMark(secrets)
  }

  /** Returns the name of a room on the node. */
  nameOf(roomId: string): string {
    return this.#names.of(roomId)
  }

  /** Returns the id of the room with this name on the node. */
  roomOf(name: string): string {
    return this.#names.roomOf(name)
  }

  /**
   * Creates a room. Returns false if a room with this id exists.
   * @param allowed tokens that admit participants; undefined: no token is required
   * @param beside number of publishers permitted in addition to the room's limit
   * @throws the errors of AdminApi.askPlugin
   */
  async create(
    room: NodeRoom,
    allowed: readonly string[] | undefined,
    signal: AbortSignal,
    beside = 0,
  ): Promise<boolean> {
    const request = {
      request: 'create',
      ...this.#own(room.roomId),
      permanent: false,
      description: this.#description(),
      publishers: publishersOf(room) + beside,
      notify_joining: true,
      lock_record: true,
      ...codecs,
      ...levels,
      ...this.#rules(),
      ...(allowed === undefined ? {} : { allowed }),
      ...this.#adminKey(),
    }
    try {
      await this.#ask(request, signal)
      return true
    } catch (error) {
      if (isJanusError(error, janusCodes.roomExists)) return false
      throw error
    }
  }

  /**
   * Changes the publisher limit of a room. Returns false if the room does not exist.
   * @param beside number of publishers permitted in addition to the room's limit
   * @throws NodeError if another site created the room; the errors of AdminApi.askPlugin
   */
  async edit(room: NodeRoom, signal: AbortSignal, beside = 0): Promise<boolean> {
    const request = { request: 'edit', ...this.#own(room.roomId), new_publishers: publishersOf(room) + beside }
    try {
      await this.#ask(request, signal)
      return true
    } catch (error) {
      if (isJanusError(error, janusCodes.noRoom)) return false
      if (isJanusError(error, janusCodes.roomUnauthorized))
        throw new NodeError(`a room ${room.roomId} that this site did not make is on the node: destroy it there`, {
          cause: error,
        })
      throw error
    }
  }

  /**
   * Removes all participants, and destroys the room. Returns false if the room does not exist.
   * @param name name on the node, if it differs from the current name
   * @throws the errors of AdminApi.askPlugin
   */
  async destroy(roomId: string, signal: AbortSignal, name = this.#names.of(roomId)): Promise<boolean> {
    return await this.#unlessGone({ request: 'destroy', ...this.#own(roomId), room: name, permanent: false }, signal)
  }

  /**
   * Removes a participant. Returns false if no such participant is in the room.
   * @throws the errors of AdminApi.askPlugin
   */
  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    return await this.#unlessGone({ request: 'kick', ...this.#own(roomId), id: userId }, signal)
  }

  /**
   * Mutes or unmutes a media section of a publisher. Returns false if the section does not exist.
   * @throws the errors of AdminApi.askPlugin
   */
  async moderate(
    roomId: string,
    { userId: id, mid, muted: mute }: { userId: string; mid: string; muted: boolean },
    signal: AbortSignal,
  ): Promise<boolean> {
    return await this.#unlessGone({ request: 'moderate', ...this.#own(roomId), id, mid, mute }, signal)
  }

  /**
   * Returns the rooms of this site on the node.
   * @throws the errors of AdminApi.askPlugin
   */
  async list(signal: AbortSignal): Promise<ListedRoom[]> {
    const { list } = this.#read(listSchema, await this.#ask({ request: 'list', ...this.#adminKey() }, signal))
    const current = this.#description()
    return list.flatMap(({ room: name, description, num_participants: participants }) => {
      if (typeof name !== 'string' || !description.startsWith(this.#mark)) return []
      const roomId = this.#names.roomOf(name)
      const outdated = description !== current || !this.#names.isCurrent(name, roomId)
      return [{ roomId, name, participants, outdated }]
    })
  }

  /**
   * Returns the participants of a room, in no particular order; empty if the room does not exist.
   * @throws the errors of AdminApi.askPlugin
   */
  async participants(roomId: string, signal: AbortSignal): Promise<ListedParticipant[]> {
    try {
      const answer = await this.#ask({ request: 'listparticipants', room: this.#names.of(roomId) }, signal)
      const { participants } = this.#read(participantsSchema, answer)
      return participants.map(({ id, display }) => ({ id: String(id), display }))
    } catch (error) {
      if (isJanusError(error, janusCodes.noRoom)) return []
      throw error
    }
  }

  /**
   * Returns the tokens that admit participants to the room.
   * @throws the errors of AdminApi.askPlugin
   */
  async allowed(roomId: string, signal: AbortSignal): Promise<string[]> {
    return await this.changeAllowed(roomId, 'add', [], signal)
  }

  /**
   * Adds or removes tokens that admit participants. Returns all admitting tokens.
   * @throws the errors of AdminApi.askPlugin
   */
  async changeAllowed(
    roomId: string,
    action: 'add' | 'remove',
    tokens: readonly string[],
    signal: AbortSignal,
  ): Promise<string[]> {
    const request = { request: 'allowed', ...this.#own(roomId), action, allowed: tokens }
    return this.#read(allowedSchema, await this.#ask(request, signal)).allowed
  }

  /**
   * Sets whether the room requires a token.
   * @throws the errors of AdminApi.askPlugin
   */
  async askForTokens(roomId: string, asked: boolean, signal: AbortSignal): Promise<void> {
    await this.#ask({ request: 'allowed', ...this.#own(roomId), action: asked ? 'enable' : 'disable' }, signal)
  }

  /**
   * Checks that the plugin is reachable and answers.
   * @throws the errors of AdminApi.askPlugin
   */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#ask({ request: 'exists', room: this.#mark }, signal)
  }

  /**
   * Returns the settings that cannot be changed in an existing room. Without an admin key, the controller could not
   * list private rooms.
   */
  #rules(): JanusFields {
    const { guarded, adminKey } = this.#traits.current
    return { is_private: adminKey, signed_tokens: guarded, require_pvtid: guarded }
  }

  /** Returns a description that identifies this site and the fixed settings of the rooms that it creates. */
  #description(): string {
    const rules = { ...this.#rules(), ...codecs, ...levels, token: this.#secrets.token_secret }
    return `${this.#mark} ${derivedSecret(this.#secrets, 'rules', JSON.stringify(rules)).slice(0, 8)}`
  }

  #own(roomId: string): { room: string; secret: string } {
    return { room: this.#names.of(roomId), secret: derivedSecret(this.#secrets, 'room', roomId) }
  }

  #adminKey(): { admin_key?: string } {
    return this.#traits.current.adminKey ? { admin_key: this.#secrets.admin_key } : {}
  }

  async #unlessGone(request: JanusFields, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#ask(request, signal)
      return true
    } catch (error) {
      if (isJanusError(error, janusCodes.noRoom, janusCodes.noFeed)) return false
      throw error
    }
  }

  #ask(request: JanusFields, signal: AbortSignal): Promise<JanusFields> {
    return this.#requests.askPlugin(plugin, request, signal)
  }

  #read<T>(schema: z.ZodType<T>, answer: JanusFields): T {
    const read = schema.safeParse(answer)
    if (!read.success) throw new NodeError('its VideoRoom plugin answered in a form that is not known')
    return read.data
  }
}

/**
 * Returns the publisher limit of a room. Janus does not distinguish audio and video, so the larger of both limits
 * applies. Janus does not accept 0.
 */
function publishersOf({ maxVideo, maxAudio, attendeeMax }: NodeRoom): number {
  return Math.max(1, Math.min(attendeeMax, Math.max(maxVideo, maxAudio)))
}

const publishersSchema = z.object({
  participants: z.array(z.looseObject({ id: z.union([z.string(), z.number()]), publisher: z.boolean() })),
})

/**
 * Lists the participants of a room, and whether they publish, through one of its participants.
 * @param room name on the node
 * @throws the errors of JanusHandle.request
 */
export async function listParticipants(
  handle: JanusHandle,
  room: string,
  signal: AbortSignal,
): Promise<{ id: string | number; publisher: boolean }[]> {
  const { data } = await handle.request({ request: 'listparticipants', room }, signal)
  return publishersSchema.safeParse(data).data?.participants ?? []
}
