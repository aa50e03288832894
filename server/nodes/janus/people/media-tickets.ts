import { z } from 'zod'
import { ticketPlace } from '../../../store/sealed-places.ts'
import type { Sealer } from '../../../store/sealer.ts'

const stay = z.strictObject({
  /** Session and handle on the node, in which they are a participant. */
  session: z.int(),
  participant: z.int(),
  /** See ParticipantSession.credentials. */
  credentials: z.record(z.string(), z.union([z.string(), z.int()])),
})
/** A participant session as the next controller finds it on the node. */
export type HeldParticipantSession = z.output<typeof stay>

const media = z.strictObject({
  handle: z.int(),
  /** The participant that publishes it. */
  feed: z.string(),
  /** They are that participant; otherwise they watch it. */
  sends: z.boolean(),
  /** Media section of the picture that is watched; empty for none. */
  mid: z.string(),
  /** It is the camera's smaller picture, past the room. */
  small: z.boolean(),
})
/** A publication or subscription, likewise. */
export type HeldMedia = z.output<typeof media>

const ticketSchema = z.strictObject({
  kind: z.literal('room media'),
  node: z.string(),
  room: z.string(),
  user: z.string(),
  stay,
  media,
})

/** Content of a ticket. */
export type MediaTicket = Omit<z.output<typeof ticketSchema>, 'kind' | 'node'>

/**
 * Tickets for what people of the room page send to and are sent by one node. Each page keeps its own, and shows them to the controller that comes after this one, which then finds their
 * sessions on the node and goes on with them. So nothing of it has to be stored, for however many. A page can neither read one nor make one: it is sealed with the key of the
 * site, which all of its controllers have. One counts for as long as its session lives on the node.
 */
export class MediaTickets {
  readonly #sealer: Pick<Sealer, 'seal' | 'unseal'>
  readonly #node: string

  constructor(sealer: Pick<Sealer, 'seal' | 'unseal'>, node: string) {
    this.#sealer = sealer
    this.#node = node
  }

  seal(ticket: MediaTicket): string {
    return this.#sealer.seal(
      JSON.stringify({ kind: 'room media', node: this.#node, ...ticket }),
      ticketPlace(this.#node),
    )
  }

  /** Undefined for what is none, or is of another node, room or person. */
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
