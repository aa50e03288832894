import { z } from 'zod'
import { roomId } from '../domain/ids.ts'

/** Test people: clients of a room that the lab runs, with real media. */

/** Media that a test person sends. */
export const sentMedia = ['clip', 'sound', 'nothing'] as const
/** Who of a room talks: one after the other, everybody, or nobody. */
export const talkPatterns = ['turns', 'all', 'nobody'] as const

/** Maximum number of groups of a site, of people and rooms of a group, and of streams that a person watches. */
export const maxTestGroups = 10
export const maxTestPeople = 200
/** Limits of the rooms of test people: a large group may be in one room, and send. */
export const testRoomLimits = { attendee_max: maxTestPeople, max_video: maxTestPeople, max_audio: maxTestPeople }
export const maxTestRooms = 50
export const maxWatched = 25

/** Patterns of arrival with their parameter, in seconds. */
export const arrivalKinds = ['at-once', 'evenly', 'random', 'come-and-go'] as const
export type ArrivalKind = (typeof arrivalKinds)[number]

/** A pattern of arrival: `seconds` is the time in which all people arrive, or the usual length of a visit. */
interface Arrival {
  kind: ArrivalKind
  seconds: number
}

/** Form of a pattern, for messages and help. */
export const arrivalForm = 'at-once, evenly=1…86400, random=1…86400 or come-and-go=5…86400 (seconds)'

/** Reads a pattern such as `evenly=30`; undefined: there is no such pattern. */
export function parseArrival(text: string): Arrival | undefined {
  if (text === 'at-once') return { kind: 'at-once', seconds: 0 }
  const [, name, digits] = /^([a-z-]{1,20})=(\d{1,5})$/.exec(text) ?? []
  const kind = arrivalKinds.find((each) => each === name && each !== 'at-once')
  const seconds = Number(digits)
  if (kind === undefined || seconds < (kind === 'come-and-go' ? 5 : 1) || seconds > 86_400) return undefined
  return { kind, seconds }
}

const arrival = z
  .string()
  .max(40)
  .refine((text) => parseArrival(text) !== undefined, `must be ${arrivalForm}`)

/** Specification of a group of test people. */
export const testPeopleSpecSchema = z.strictObject({
  /** Name in lists, and part of the ids of its people. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
  people: z.int().min(1).max(maxTestPeople).default(4),
  /** Number of rooms that are made for the group; ignored if `room_ids` names rooms. */
  rooms: z.int().min(1).max(maxTestRooms).default(1),
  /** Existing rooms that the people join in turn; empty: rooms of their own. */
  room_ids: z.array(roomId).max(maxTestRooms).default([]),
  /** See `parseArrival`. */
  arrive: arrival.default('at-once'),
  send: z.enum(sentMedia).default('clip'),
  /** Whether the picture is sent in two sizes (RFC 8853). */
  simulcast: z.boolean().default(false),
  /** Number of streams of others that each person watches. */
  watch: z.int().min(0).max(maxWatched).default(4),
  talk: z.enum(talkPatterns).default('turns'),
  /** Share of media packets that are lost in each direction, in percent. */
  loss: z.number().min(0).max(50).default(0),
  /** Seed of arrivals and losses. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 31)
    .default(1),
})
export type TestPeopleSpec = z.output<typeof testPeopleSpecSchema>

/** States of a test person. `removed`: kicked, or the meeting ended; the person does not return. */
const testPersonStates = ['away', 'joining', 'waiting', 'present', 'removed', 'refused'] as const
export type TestPersonState = (typeof testPersonStates)[number]

/** Current state of a group. */
export const testPeopleStateSchema = z.strictObject({
  name: z.string(),
  /** Number of people in each state. */
  counts: z.record(z.enum(testPersonStates), z.int()),
  /** Media packets since the start. `lost`: missing on arrival, even after they were requested again. */
  sent: z.int(),
  received: z.int(),
  lost: z.int(),
  /** Latest reason why a person could not join or had no media; empty: none. */
  problem: z.string(),
})
export type TestPeopleState = z.output<typeof testPeopleStateSchema>

const idPrefix = 'test-person-'

/** Returns the user id of a person, counted from 1. It marks the person as a test person wherever users are shown. */
export function testPersonId(group: string, number: number): string {
  return `${idPrefix}${group}-${number}`
}

/** Returns the name of a person, counted from 1. */
export function testPersonName(number: number): string {
  return `Test person ${number}`
}

/** Whether a user id is that of a test person. */
export function isTestPerson(userId: string): boolean {
  return userId.startsWith(idPrefix)
}

/** Returns the index of a person's room. People take the rooms in turn. @param number number of the person, from 1 */
export function roomIndexOf(number: number, rooms: number): number {
  return (number - 1) % rooms
}
