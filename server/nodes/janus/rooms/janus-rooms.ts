import { z } from 'zod'
import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import type { JanusFields, PluginRequests } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import { derivedSecret, type JanusSecrets, ownMark } from '../../secrets/janus-access.ts'
import type { Traits } from '../wire/node-traits.ts'
import type { RoomNames } from './room-names.ts'

/** A room of ours as the node lists it. */
export interface ListedRoom {
  roomId: string
  /** On the node. */
  name: string
  /** Number of participants who joined as publishers, whether they publish or not. */
  participants: number
  /** It was made with other rules than a room is made with now, or is called otherwise. */
  outdated: boolean
}

/** Somebody in a room, as the node lists them. */
export interface ListedParticipant {
  id: string
  display: string
}

const plugin = 'janus.plugin.videoroom'
/** Codecs that browsers and cameras have in common, the best first. */
const codecs = { audiocodec: 'opus,pcmu,pcma,g722', videocodec: 'vp8,h264,vp9,av1' }
/** Speakers are reported: those whose sound of 400 ms is louder than 50 dB below full scale on average (RFC 6464). */
const levels = { audiolevel_event: true, audio_active_packets: 20, audio_level_average: 50 }

const listSchema = z.object({
  list: z.array(
    z.looseObject({
      // A number on a node without `string_ids`: such a room is none of ours.
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

/** Rooms of ours on one node, in requests to its VideoRoom plugin. It remembers nothing. */
export class JanusRooms {
  readonly #requests: PluginRequests
  readonly #secrets: JanusSecrets
  readonly #names: RoomNames
  readonly #traits: () => Traits
  readonly #mark: string

  constructor(requests: PluginRequests, secrets: JanusSecrets, names: RoomNames, traits: () => Traits) {
    this.#requests = requests
    this.#secrets = secrets
    this.#names = names
    this.#traits = traits
    this.#mark = ownMark(secrets)
  }

  /** Name of a room on the node. */
  nameOf(roomId: string): string {
    return this.#names.of(roomId)
  }

  /** Which room is called so on the node. */
  roomOf(name: string): string {
    return this.#names.roomOf(name)
  }

  /**
   * Makes a room. Returns false where one of this id is there already.
   * @param allowed tokens that let somebody in; undefined: none is asked for
   * @param beside so many more may publish
   * @throws as AdminApi.askPlugin
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
   * Changes the caps of a room. Returns false where there is none of this id.
   * @param beside so many more may publish
   * @throws NodeError when the room is somebody else's; as AdminApi.askPlugin
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
   * Removes everybody and the room. Returns false where there was none.
   * @param name its name on the node, if it differs from the present one
   * @throws as AdminApi.askPlugin
   */
  async destroy(roomId: string, signal: AbortSignal, name = this.#names.of(roomId)): Promise<boolean> {
    return await this.#unlessGone({ request: 'destroy', ...this.#own(roomId), room: name, permanent: false }, signal)
  }

  /** Puts somebody out. Returns false where nobody of this id is in the room. @throws as AdminApi.askPlugin */
  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    return await this.#unlessGone({ request: 'kick', ...this.#own(roomId), id: userId }, signal)
  }

  /** Passes on nothing of what somebody publishes with this mid, or does again. Returns false where nothing of it is published. @throws as AdminApi.askPlugin */
  async moderate(
    roomId: string,
    { userId: id, mid, muted: mute }: { userId: string; mid: string; muted: boolean },
    signal: AbortSignal,
  ): Promise<boolean> {
    return await this.#unlessGone({ request: 'moderate', ...this.#own(roomId), id, mid, mute }, signal)
  }

  /** Rooms of ours. @throws as AdminApi.askPlugin */
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

  /** Participants of a room, in no order; empty where there is none. @throws as AdminApi.askPlugin */
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

  /** Tokens that let somebody into the room. @throws as AdminApi.askPlugin */
  async allowed(roomId: string, signal: AbortSignal): Promise<string[]> {
    return await this.changeAllowed(roomId, 'add', [], signal)
  }

  /** Lets these tokens in, or no longer; returns all that are let in. @throws as AdminApi.askPlugin */
  async changeAllowed(
    roomId: string,
    action: 'add' | 'remove',
    tokens: readonly string[],
    signal: AbortSignal,
  ): Promise<string[]> {
    const request = { request: 'allowed', ...this.#own(roomId), action, allowed: tokens }
    return this.#read(allowedSchema, await this.#ask(request, signal)).allowed
  }

  /** Whether a token is asked for. @throws as AdminApi.askPlugin */
  async askForTokens(roomId: string, asked: boolean, signal: AbortSignal): Promise<void> {
    await this.#ask({ request: 'allowed', ...this.#own(roomId), action: asked ? 'enable' : 'disable' }, signal)
  }

  /** The plugin answers, and so does the way to it. @throws as AdminApi.askPlugin */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#ask({ request: 'exists', room: this.#mark }, signal)
  }

  /** Settings that cannot change in an existing room. Without the key private rooms would not be listed, for us neither. */
  #rules(): JanusFields {
    const { guarded, adminKey } = this.#traits()
    return { is_private: adminKey, signed_tokens: guarded, require_pvtid: guarded }
  }

  /** Says whose the room is, and by which of the rules that cannot be changed it was made. */
  #description(): string {
    const rules = { ...this.#rules(), ...codecs, ...levels, token: this.#secrets.token_secret }
    return `${this.#mark} ${derivedSecret(this.#secrets, 'rules', JSON.stringify(rules)).slice(0, 8)}`
  }

  #own(roomId: string): { room: string; secret: string } {
    return { room: this.#names.of(roomId), secret: derivedSecret(this.#secrets, 'room', roomId) }
  }

  #adminKey(): { admin_key?: string } {
    return this.#traits().adminKey ? { admin_key: this.#secrets.admin_key } : {}
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

/** Janus counts who publishes, whether voice or picture: nobody who may do either is refused. It takes no 0. */
function publishersOf({ maxVideo, maxAudio, attendeeMax }: NodeRoom): number {
  return Math.max(1, Math.min(attendeeMax, Math.max(maxVideo, maxAudio)))
}
