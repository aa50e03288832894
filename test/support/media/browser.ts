import type { Browser, Page } from 'playwright-core'
import { openChromium, openWindows, type Windows } from '../chromium.ts'

const flags = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]

/** Statistics of one direction and one kind of media. */
export interface FlowStats {
  /** When sending: frames encoded. */
  framesDecoded: number
  framesPerSecond: number
  /** Complete frames received, and those of them that the browser dropped. */
  framesReceived: number
  framesDropped: number
  packets: number
  bytes: number
  packetsLost: number
  freezes: number
  /** Energy of the sound: above 0 unless silent. */
  energy: number
  keyFrames: number
  targetBitrate: number
  nacks: number
  height: number
  /** Samples of sound that were played, and those of them that were concealed. */
  samples: number
  concealed: number
}

/** Statistics of one peer connection in the page. */
export interface PeerStats {
  state: string
  /** Status of the PATCH with the candidates; 0: none sent. */
  patched: number
  /** Time from the offer to the first rendered picture; 0 before. */
  firstFrameMs: number
  /** Browser's estimate of the available bandwidth, in bits per second. */
  availableBitrate?: number
  video?: FlowStats
  audio?: FlowStats
  videoSent?: FlowStats
  audioSent?: FlowStats
}

/** Answer of the node to an offer. */
export interface Answered {
  status: number
  problem: { status: number; reason: string; code?: number; detail: string } | null
  sdp: string
}

/** Options of an offer. */
export interface Offering {
  /** The only video codec offered; default: all. */
  codec?: string
  /** When the page sends its candidates; never: the node uses the source address of its packets. */
  addresses?: 'offer' | 'later' | 'never'
  /** The only node address to use; default: any. */
  through?: string
  /** Publishes a picture of 720 lines in three layers, `l`, `m` and `h`. */
  layered?: boolean
  /** Published picture: noise takes all available bandwidth. */
  pictures?: 'camera' | 'noise'
  /** Offers transport-wide feedback when publishing; default: true. */
  transportFeedback?: boolean
  /** Publishes a picture that costs little. */
  small?: boolean
}

/** Functions of page/client.js that are called from here. */
interface PageClient {
  watch(name: string, url: string, token: string, how: Offering): Promise<Answered>
  watchOffered(name: string, url: string, token?: string): Promise<Answered>
  publish(name: string, url: string, token: string, how: Offering): Promise<Answered>
  stats(name: string): Promise<PeerStats>
  observe(name: string): void
  maxGap(name: string): number
  close(name: string, polite: boolean): Promise<number>
  isOver(name: string): Promise<boolean>
  restart(name: string): Promise<string>
  enable(name: string, kind: 'video' | 'audio', on: boolean): void
  activate(name: string, rids: readonly string[]): Promise<void>
  colours(png: string, places: [number, number][]): Promise<number[][]>
  peerOffer(name: string): Promise<string>
  peerAnswer(name: string, sdp: string): Promise<string>
  peerCandidates(name: string): { candidate: string; sdpMid: string }[]
  peerFinish(name: string, sdp: string): Promise<void>
  peerAddress(name: string, candidate: string, mid: string): Promise<void>
}

/** Opens windows with fake camera and microphone, in a Chromium that the test files of this process share. */
export async function openMediaWindows(): Promise<Windows> {
  return await openWindows(flags)
}

/** Starts Chromium with fake camera and microphone. */
export async function startBrowser(): Promise<Browser> {
  return await openChromium(flags)
}

/** A tab that publishes and watches. */
export class MediaPage {
  readonly page: Page
  private constructor(page: Page) {
    this.page = page
  }

  /** @param url of the node, which serves the page */
  static async open(browser: Pick<Windows, 'newPage'>, url: string): Promise<MediaPage> {
    const page = await browser.newPage({ viewport: { width: 700, height: 500 } })
    await page.goto(`${url}/room/`)
    await page.waitForFunction('globalThis.client !== undefined')
    return new MediaPage(page)
  }

  /** Calls a function of the page's client. */
  async call<N extends keyof PageClient>(
    name: N,
    ...parameters: Parameters<PageClient[N]>
  ): Promise<Awaited<ReturnType<PageClient[N]>>> {
    return await this.page.evaluate(
      async ([method, values]) => {
        const { client } = globalThis as unknown as { client: Record<string, (...all: unknown[]) => Promise<never>> }
        const run = client[method]
        if (run === undefined) throw new Error(`the page has no ${method}`)
        return await run(...values)
      },
      [name, parameters] as const,
    )
  }

  /** Waits until the statistics match; fails with the last ones. */
  async until(name: string, matches: (stats: PeerStats) => boolean, withinMs = 20_000): Promise<PeerStats> {
    const limit = performance.now() + withinMs
    for (;;) {
      const stats = await this.call('stats', name)
      if (matches(stats)) return stats
      if (performance.now() > limit) throw new Error(`it did not come to that: ${JSON.stringify(stats)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Waits until this many more pictures are decoded. */
  async decodes(name: string, more = 10, withinMs = 20_000): Promise<PeerStats> {
    const before = (await this.call('stats', name)).video?.framesDecoded ?? 0
    return await this.until(name, ({ video }) => (video?.framesDecoded ?? 0) >= before + more, withinMs)
  }

  /** Reads the colours of a rendered stream at places given as shares of its size. */
  async colours(name: string, ...places: [number, number][]): Promise<number[][]> {
    const png = await this.page.locator(`#${name}`).screenshot()
    return await this.call('colours', png.toString('base64'), places)
  }
}
