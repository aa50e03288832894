import fc from 'fast-check'
import { expect } from 'vitest'
import type { TestMediaNode } from '../../../support/media/media-node.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { type RefusedError, SignalClient } from '../../../support/media/signal-client.ts'

/** Two guests and a host. */
const people = ['ann', 'bo', 'host'] as const
type Person = (typeof people)[number]
type Join = NonNullable<Parameters<typeof SignalClient.join>[2]>

/** Ways into the room besides the host password, which only the host knows. */
const ways = ['own', 'shared', 'number', 'asHost', 'password'] as const

/** One step of a story. */
type Step =
  | { act: 'join'; who: Person; way: (typeof ways)[number]; browser: boolean; pass: boolean; wish: string }
  | { act: 'resume' | 'kick' | 'leave' | 'drop' | 'promote'; whom: number }
  | { act: 'whip' | 'whep'; who: Person; way: 'own' | 'shared' | 'session' }
  | { act: 'move' | 'cameraMade' | 'cameraGone' }

const wishes = ['', 'ann', 'bo', 'host', 'door', 'newest', 'oldest']
const whom = fc.nat(20)
const who = fc.constantFrom(...people)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constant('join' as const),
      who,
      way: fc.constantFrom(...ways),
      browser: fc.boolean(),
      pass: fc.boolean(),
      wish: fc.constantFrom(...wishes),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ act: fc.constantFrom('resume', 'kick', 'leave', 'drop', 'promote'), whom }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('whip', 'whep'),
      who,
      way: fc.constantFrom('own', 'shared', 'session'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('move', 'cameraMade', 'cameraGone') }) },
)

/** Generates stories. */
export const stories = fc.array(step, { minLength: 1, maxLength: 14 })

let rooms = 0

/** Runs a story in a room of its own. */
export async function followed(node: TestMediaNode, steps: readonly Step[]): Promise<void> {
  rooms += 1
  await using model = await IdentityModel.open(node, `story ${rooms}`)
  for (const one of steps) await model.do(one)
}

/** A user who joined, with the credentials received. */
interface Arrival {
  who: Person
  client: SignalClient
  userId: string
  role: 'host' | 'member'
  /** Host by the password. */
  byPassword: boolean
  /** The node generated the id, and the pass proves it. */
  made: boolean
}

/**
 * Model of one room beside the node: which id each user has proven, and who was removed. Each step runs on the node and is compared with
 * the model; so are the users of the room and their roles after each step.
 */
class IdentityModel implements AsyncDisposable {
  readonly #node: TestMediaNode
  readonly #room: string
  readonly #shared: string
  readonly #own: Record<Person, string>
  readonly #arrivals: Arrival[] = []
  /** Users in the room, by id. */
  readonly #present = new Map<string, Arrival>()
  readonly #removed = new Set<string>()
  /** All ids used so far. */
  readonly #known = new Set<string>(['ann', 'bo', 'host', 'door'])
  /** Id of each browser after its first join. */
  readonly #browsers = new Map<Person, string>()
  #camera = false

  private constructor(node: TestMediaNode, room: string) {
    this.#node = node
    this.#room = room
    this.#shared = node.token(room)
    const own = (userId: Person): string => node.token(room, { userId })
    this.#own = { ann: own('ann'), bo: own('bo'), host: own('host') }
  }

  static async open(node: TestMediaNode, room: string): Promise<IdentityModel> {
    const model = new IdentityModel(node, room)
    node.openToNumber.add(room)
    await model.#openRoom()
    return model
  }

  async do(one: Step): Promise<void> {
    switch (one.act) {
      case 'join':
        await this.#join(one)
        break
      case 'resume':
        await this.#resume(this.#arrivals[one.whom % this.#arrivals.length])
        break
      case 'whip':
      case 'whep':
        await this.#media(one)
        break
      case 'move':
        this.#present.clear()
        await this.#node.request('close_room', { roomId: this.#room, moves: true })
        await this.#openRoom()
        break
      case 'cameraMade':
      case 'cameraGone':
        this.#camera = one.act === 'cameraMade'
        await this.#node.request('note_outgoing', { userId: 'bo', roomId: this.#camera ? this.#room : '' })
        break
      default:
        await this.#doWith(one.act, [...this.#present.values()][one.whom % this.#present.size])
    }
    await this.#compare()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.#arrivals) client.drop()
    await this.#node.request('note_outgoing', { userId: 'bo', roomId: '' })
    await this.#node.request('close_room', { roomId: this.#room })
  }

  async #openRoom(): Promise<void> {
    await this.#node.openRoom(this.#room, { hostPassword: passwordOf(this.#room) })
  }

  /** Acts on a user in the room. */
  async #doWith(act: 'kick' | 'leave' | 'drop' | 'promote', one: Arrival | undefined): Promise<void> {
    if (one === undefined) return
    const { client, userId, who: name } = one
    if (act === 'drop') return client.drop()
    if (act === 'promote') {
      if (name !== 'host') return
      await this.#enter({ token: client.joined.session, host_password: passwordOf(this.#room) }, async (again) => {
        expect(again.joined.you).toMatchObject({ user_id: userId, role: 'host' })
        this.#came({ ...one, client: again, role: 'host', byPassword: true })
      })
      return
    }
    if (act === 'kick') {
      expect(await this.#node.request('kick', { roomId: this.#room, userId })).toEqual({ kicked: true })
      this.#removed.add(userId)
    } else if (client.socket.readyState === client.socket.OPEN) {
      client.send({ type: 'leave' })
      await client.closed
    } else return
    this.#present.delete(userId)
  }

  async #join({ who: name, way, browser, pass, wish }: Extract<Step, { act: 'join' }>): Promise<void> {
    const asHost = name === 'host' && (way === 'asHost' || way === 'password')
    const link = asHost && way === 'asHost' ? this.#node.token(this.#room, { role: 'host' }) : this.#linkOf(name, way)
    const earlier = this.#arrivals.findLast((arrival) => arrival.who === name)
    const asked = wish === '' ? earlier?.userId : this.#wished(wish)
    const how: Join = {
      token: asHost && way === 'password' ? '' : link,
      ...(asHost && way === 'password' ? { host_password: passwordOf(this.#room) } : {}),
      ...(browser ? { browser: browserOf(name) } : {}),
      ...(pass && earlier !== undefined ? { pass: earlier.client.joined.pass } : {}),
      ...(asked === undefined ? {} : { user_id: asked }),
    }
    const isNamed = way === 'own'
    const shown = pass ? earlier : undefined
    // Ids that the credentials prove; none: the node has to generate one.
    const proven = isNamed
      ? name
      : browser
        ? (this.#browsers.get(name) ?? 'of a browser')
        : shown?.made === true && asked === shown.userId && !this.#removed.has(asked)
          ? asked
          : undefined
    await this.#enter(
      how,
      async (client) => {
        const { you } = client.joined
        expect(this.#removed.has(you.user_id)).toBe(false)
        if (proven === undefined || proven === 'of a browser') expect(this.#known).not.toContain(you.user_id)
        else expect(you.user_id).toBe(proven)
        if (proven === 'of a browser') this.#browsers.set(name, you.user_id)
        const passOfHost = shown?.byPassword === true && shown.userId === you.user_id
        const byPassword = how.host_password !== undefined || passOfHost
        expect(you.role).toBe(byPassword || (asHost && way === 'asHost') ? 'host' : 'member')
        this.#came({ who: name, client, userId: you.user_id, role: you.role, byPassword, made: !isNamed && !browser })
      },
      (reason) => {
        const refused =
          proven !== undefined && this.#removed.has(proven) ? 'removed' : this.#isCamera(proven) ? 'taken' : 'let in'
        expect(reason).toBe(refused)
      },
    )
  }

  async #resume(one: Arrival | undefined): Promise<void> {
    if (one === undefined) return
    const isIn = this.#present.get(one.userId)?.client.joined.session === one.client.joined.session
    try {
      const client = await SignalClient.resume(this.#node.url, one.client.joined.session)
      expect(isIn).toBe(true)
      const now = this.#present.get(one.userId)
      expect(client.joined.you).toMatchObject({ user_id: one.userId, role: now?.role })
      if (now !== undefined) this.#came({ ...now, client })
    } catch (error) {
      if (isIn) throw error
      expect(String(error)).toContain('noSession')
    }
  }

  async #media({ act, who: name, way }: Extract<Step, { act: 'whip' | 'whep' }>): Promise<void> {
    const session = this.#arrivals.findLast((arrival) => arrival.who === name)?.client.joined.session
    const token = way === 'session' ? (session ?? '') : this.#linkOf(name, way)
    const before = new Set(this.#present.keys())
    const direction = act === 'whip' ? 'sendonly' : 'recvonly'
    const answer = await fetch(`${this.#node.url}/${act}/${this.#room}${act === 'whip' ? '' : '/nobody'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      body: offerSdp({ direction }),
    })
    if (answer.status !== 201) return
    const { users } = await this.#node.request('users', { roomId: this.#room })
    const came = users.filter(({ userId }) => !before.has(userId))
    if (way === 'own') expect(this.#removed.has(name) || this.#isCamera(name)).toBe(false)
    for (const { userId, role } of came) {
      expect(role).toBe('member')
      if (way === 'own') expect(userId).toBe(name)
      else expect(this.#known).not.toContain(userId)
      this.#known.add(userId)
    }
    // A user who joined only to watch leaves with the session.
    await fetch(new URL(answer.headers.get('location') ?? '', this.#node.url), { method: 'DELETE' })
  }

  #came(arrival: Arrival): void {
    this.#arrivals.push(arrival)
    this.#known.add(arrival.userId)
    this.#present.set(arrival.userId, arrival)
  }

  async #enter(
    how: Join,
    entered: (client: SignalClient) => Promise<void>,
    refused: (reason: string) => void = (reason) => expect(reason).toBe('let in'),
  ): Promise<void> {
    let client: SignalClient
    try {
      client = await SignalClient.join(this.#node.url, this.#room, how)
    } catch (error) {
      return refused((error as RefusedError).reason)
    }
    await entered(client)
  }

  /** Compares the users of the room and their roles with the model. */
  async #compare(): Promise<void> {
    const { users } = await this.#node.request('users', { roomId: this.#room })
    const isThere = users.map(({ userId, role }): [string, string] => [userId, role]).sort()
    expect(isThere).toEqual(Array.from(this.#present.values(), ({ userId, role }) => [userId, role]).sort())
  }

  #isCamera(userId: string | undefined): boolean {
    return this.#camera && userId === 'bo'
  }

  #linkOf(name: Person, way: string): string {
    if (way === 'own') return this.#own[name]
    return way === 'number' ? '' : this.#shared
  }

  #wished(wish: string): string | undefined {
    if (wish === 'newest') return this.#arrivals.at(-1)?.userId
    return wish === 'oldest' ? this.#arrivals[0]?.userId : wish
  }
}

function passwordOf(room: string): string {
  return `password of ${room}`
}

function browserOf(name: Person): string {
  return `the browser of ${name} alone`
}
