import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { mediaProgramArguments } from '../../server/nodes/embedded/fork-process.ts'
import type { StreamSize } from '../../shared/media/signal.ts'
import { type Camera, type CameraOptions, startCamera } from '../support/camera/camera.ts'
import { MediaPage, type Offering } from '../support/media/browser.ts'
import { type LossyProxy, startLossyProxy } from '../support/media/lossy-proxy.ts'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { liveMemoryArguments } from './process-figures.ts'

/** Paths to the node: its own address, a small link, and changing networks. */
const [direct, small, changing] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const
/** Rate of the small link in kbit/s, and the length of its queue. */
const smallLink = { kbps: 600, queueMs: 300 }
const picture: CameraOptions = { width: 160, height: 90, fps: 10, gop: 20, kbps: 150 }
const flapping = 'flap'
/** Time without the camera that dies, in milliseconds. */
const awayMs = 3_000
/** Everybody watches every camera, and this many of the next users. */
const neighbours = 1

/** Users of the room, and their path to it. */
const ways: Readonly<Record<string, string>> = {
  ann: direct,
  bob: direct,
  cat: direct,
  dan: direct,
  slow: small,
  roam: changing,
}

interface Person {
  name: string
  page: MediaPage
  signal: SignalClient
  watches: string[]
}

/** Time without a new picture of a stream. */
export interface Gap {
  who: string
  ms: number
  /** Current size of the stream, as last reported by the node. */
  sent: StreamSize
}

/** The room, its cameras and its users. */
export class SoakRoom implements AsyncDisposable {
  readonly name = 'soak'
  readonly cameras = ['door', 'yard', 'gate', flapping]
  readonly node: TestMediaNode
  readonly #people: Person[] = []
  readonly #steady: Camera
  readonly #smallLink: LossyProxy
  #flapping: Camera
  #network: LossyProxy[]
  /** The camera is away, or a user is without a network. */
  #flapped = false
  #moved = false
  flaps = 0
  moves = 0

  private constructor(node: TestMediaNode, cameras: [Camera, Camera], links: [LossyProxy, LossyProxy]) {
    this.node = node
    ;[this.#steady, this.#flapping] = cameras
    this.#smallLink = links[0]
    this.#network = [links[1]]
  }

  static async open(browser: Browser): Promise<SoakRoom> {
    const cameras = await Promise.all([startCamera(picture), startCamera(picture)])
    const node = await TestMediaNode.start({
      program: builtMediaProgram,
      // Arguments as in the controller, which affect memory use.
      execArgv: [...mediaProgramArguments, ...liveMemoryArguments],
      settings: { advertised: [direct, small, changing] },
    })
    const links = await Promise.all([
      startLossyProxy(node.udpPort, 0, small),
      startLossyProxy(node.udpPort, 0, changing),
    ])
    Object.assign(links[0].toClient, smallLink)
    const room = new SoakRoom(node, cameras, links)
    await room.#fill(browser)
    return room
  }

  /** Returns the maximum gap since the last call, over all users with a good link and all streams that should exist. */
  async maxGaps(): Promise<Gap[]> {
    const gaps: Gap[] = []
    for (const { name, page, signal, watches } of this.#people) {
      for (const stream of watches) {
        const excused =
          (stream === flapping && this.#flapped) || (this.#moved && (name === 'roam' || stream === 'roam'))
        const ms = await page.call('maxGap', stream)
        if (name === 'slow' || stream === 'slow' || excused) continue
        gaps.push({ who: `${name} watching ${stream}`, ms, sent: this.#sizeOf(signal, stream) })
      }
    }
    return gaps
  }

  /** Kills a camera, restarts and adds it again; not while a user changes networks. Resolves to the problem, if any. */
  async flap(): Promise<string | undefined> {
    this.flaps += 1
    this.#flapped = true
    const { port } = this.#flapping
    await this.#flapping.kill()
    await pause(awayMs)
    if ((await this.node.userIds(this.name)).includes(flapping)) return 'a dead camera is still in the room'
    this.#flapping = await startCamera({ ...picture, port })
    await this.node.addDevice(this.name, flapping, this.#flapping.url('/cam'))
    for (const person of this.#people) {
      await person.page.call('close', flapping, true)
      await this.#watch(person, flapping)
    }
    this.#flapped = false
    return undefined
  }

  /** Lists cameras missing in the room, each reported once: nobody waits for their pictures any more. */
  async lostCameras(): Promise<string[]> {
    const present = await this.node.userIds(this.name)
    const lost = this.cameras.filter((camera) => camera !== flapping && !present.includes(camera))
    for (const camera of lost) {
      this.cameras.splice(this.cameras.indexOf(camera), 1)
      for (const person of this.#people) {
        person.watches = person.watches.filter((stream) => stream !== camera)
        await person.page.call('close', camera, false)
      }
    }
    return lost
  }

  /** Moves a user to another network; not while a camera is away. Resolves to the time without pictures. */
  async move(): Promise<number> {
    const roaming = this.#people.find(({ name }) => name === 'roam')
    if (roaming === undefined) throw new Error('nobody changes networks')
    const { page, watches } = roaming
    this.moves += 1
    this.#moved = true
    await this.#disconnect()
    const began = performance.now()
    const before = new Map<string, number>()
    for (const stream of watches) before.set(stream, await this.#decoded(page, stream))
    const fragments: string[] = []
    for (const stream of ['own', ...watches]) fragments.push(await page.call('restart', stream))
    const port = Number(/a=candidate:\S+ 1 UDP \d+ 127\.0\.0\.3 (\d+) typ host/.exec(fragments.join())?.[1])
    // New connections on this network use the node's own port.
    this.#network = await Promise.all(
      [this.node.udpPort, port].map(async (to) => await startLossyProxy(to, 0, changing)),
    )
    for (const stream of watches) {
      await page.until(stream, ({ video }) => (video?.framesDecoded ?? 0) > (before.get(stream) ?? 0))
    }
    const ms = performance.now() - began
    for (const { page: each, watches: streams } of this.#people)
      for (const stream of streams) await each.call('maxGap', stream)
    this.#moved = false
    return ms
  }

  /** Pictures decoded behind the small link. */
  async slowPictures(): Promise<number> {
    let sum = 0
    for (const { name, page, watches } of this.#people) {
      if (name === 'slow') for (const stream of watches) sum += await this.#decoded(page, stream)
    }
    return sum
  }

  /** Ends all sessions. */
  async leave(): Promise<void> {
    for (const { page, signal, watches } of this.#people) {
      for (const stream of [...watches, 'own']) await page.call('close', stream, true)
      signal.send({ type: 'leave' })
      await signal.closed
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const camera of [this.#steady, this.#flapping]) await camera.kill()
    await this.#smallLink[Symbol.asyncDispose]()
    await this.#disconnect()
    await this.node.stop()
  }

  async #disconnect(): Promise<void> {
    for (const link of this.#network) await link[Symbol.asyncDispose]()
  }

  async #fill(browser: Browser): Promise<void> {
    await this.node.openRoom(this.name)
    await this.node.addDevice(this.name, 'door', this.#steady.url('/cam'))
    await this.node.addDevice(this.name, 'yard', this.#steady.url('/opus'))
    await this.node.addDevice(this.name, 'gate', this.#steady.url('/video'))
    await this.node.addDevice(this.name, flapping, this.#flapping.url('/cam'))
    const names = Object.keys(ways)
    for (const [index, name] of names.entries()) {
      const signal = await SignalClient.join(this.node.url, this.name, {
        token: this.node.token(this.name, { userId: name }),
      })
      const page = await MediaPage.open(browser, this.node.url)
      const how = { ...this.#how(name), codec: 'VP8', small: true }
      const answer = await page.call('publish', 'own', `${this.node.url}/whip/${this.name}`, signal.joined.session, how)
      if (answer.problem !== null) throw new Error(answer.problem.detail)
      const others = Array.from({ length: neighbours }, (_, next) => names[(index + next + 1) % names.length] ?? '')
      this.#people.push({ name, page, signal, watches: [...this.cameras, ...others] })
    }
    for (const person of this.#people) for (const stream of person.watches) await this.#watch(person, stream)
  }

  async #watch({ name, page, signal }: Person, stream: string): Promise<void> {
    const { session } = signal.joined
    const url = `${this.node.url}/whep/${this.name}/${stream}`
    const answer = await page.call('watch', stream, url, session, this.#how(name))
    if (answer.problem !== null) throw new Error(`${name} watching ${stream}: ${answer.problem.detail}`)
    if (name !== 'slow') await page.decodes(stream, 3)
    await page.call('observe', stream)
  }

  #sizeOf({ messages }: SignalClient, stream: string): StreamSize {
    const told = messages.findLast((message) => message.type === 'stream_size' && message.stream_id === stream)
    return told?.type === 'stream_size' ? told.size : 'full'
  }

  #how(name: string): Offering {
    return { addresses: 'never', through: ways[name] ?? direct }
  }

  async #decoded(page: MediaPage, stream: string): Promise<number> {
    return (await page.call('stats', stream)).video?.framesDecoded ?? 0
  }
}
