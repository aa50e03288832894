import { z } from 'zod'
import { tokenKinds } from '../../../../shared/tokens.ts'
import { ticketPlace } from '../../../store/sealed-places.ts'
import type { Sealer } from '../../../store/sealer.ts'

const stay = z.strictObject({
  /** Ids of the session on the node, and of the participant's handle. */
  session: z.int(),
  participant: z.int(),
  /** See ParticipantSession.credentials. */
  credentials: z.record(z.string(), z.union([z.string(), z.int()])),
})
/** Data with which the next controller resumes a participant session. */
export type HeldParticipantSession = z.output<typeof stay>

const media = z.strictObject({
  handle: z.int(),
  /** Participant that publishes the stream. */
  feed: z.string(),
  /** true: the person publishes the stream; false: the person watches it. */
  sends: z.boolean(),
  /** Media section of the watched video; empty if there is no video. */
  mid: z.string(),
  /** Whether the media is the camera's smaller picture, which is not part of the room. */
  small: z.boolean(),
})
/** Data with which the next controller resumes a publication or subscription. */
export type HeldMedia = z.output<typeof media>

const { purpose } = tokenKinds['media-ticket']
const ticketSchema = z.strictObject({
  kind: z.literal(purpose),
  node: z.string(),
  room: z.string(),
  user: z.string(),
  stay,
  media,
})

export type MediaTicket = Omit<z.output<typeof ticketSchema>, 'kind' | 'node'>

/**
 * Tickets for the media between people of the room page and one node. Each page keeps its tickets, and sends them to
 * the next controller, which resumes the sessions on the node. Therefore the controller stores nothing per person. A
 * ticket is sealed with the site's key, which only the site's controllers have, so a page can neither read nor forge
 * it. A ticket is valid while its session exists on the node.
 */
export class MediaTickets {
  readonly #sealer: Pick<Sealer, 'seal' | 'unseal'>
  readonly #node: string

  constructor(sealer: Pick<Sealer, 'seal' | 'unseal'>, node: string) {
    this.#sealer = sealer
    this.#node = node
  }

  seal(ticket: MediaTicket): string {
    return this.#sealer.seal(JSON.stringify({ kind: purpose, node: this.#node, ...ticket }), ticketPlace(this.#node))
  }

  /** Opens a ticket. Returns undefined if it is invalid, or belongs to another node, room or person. */
  open(text: string, of: { roomId: string; userId: string }): MediaTicket | undefined {
    if (text === '') return undefined
    try {
      const {
        kind: _,
        node,
        ...ticket
      } = ticketSchema.parse(JSON.parse(this.#sealer.unseal(text, ticketPlace(this.#node))))
      return node === this.#node && ticket.room === of.roomId && ticket.user === of.userId ? ticket : undefined
    } catch {
      return undefined
    }
  }
}
