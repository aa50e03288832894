/** WHEP viewers in a process of their own, so that their work is not the node's. Each message is answered with what they have seen by then. */
import { CountedViewer } from '../support/media/counted-viewer.ts'
import { WhepPeer } from '../support/media/whep-peer.ts'
import { serveRequests } from './rest.ts'

/** How they watch: they count what comes (`CountedViewer`); they take it in whole (`WhepPeer`); or that, and the server is the one that offers. */
export type Viewing = 'counted' | 'whole' | 'offered'

/** What is asked of them. */
export interface ViewersRequest {
  /** So many more come and stay. */
  open?: number
  /** So many come and go, ten at a time: each waits for a second now and then, as the library repeats a lost message. */
  cycles?: number
  /** Of those that stay so many come at a time; left out: one after the other. */
  atOnce?: number
  /** In the place of the token before, which may live shortly. */
  token?: string
  /** Those that stayed go, once it is counted what they have seen. */
  leave?: boolean
}

/** What they have seen. */
export interface ViewersSeen {
  /** Of all of them together, those that have gone too. */
  packets: number
  /** Packets of video of each that stayed, and those that it should have had since its first one, by their numbers. */
  video: { received: number; sent: number }[]
  /** From the offer to the first packet, of each that came with this message. Milliseconds. */
  firstMs: number[]
  /** Why some did not come. */
  failures: string[]
}

const [url = '', firstToken = '', viewing = 'counted'] = process.argv.slice(2)
let token = firstToken
const cyclesAtOnce = 10

type Viewer = CountedViewer | WhepPeer

const viewers: Viewer[] = []
/** Of those who came and went. */
let earlierPackets = 0

async function come(): Promise<Viewer> {
  if (viewing === 'counted') return await CountedViewer.open(url, token)
  return await (viewing === 'whole' ? WhepPeer.open(url, token) : WhepPeer.openOffered(url))
}

async function comeAndGo(): Promise<void> {
  const viewer = await come()
  await viewer.close()
  earlierPackets += viewer.packets
}

/** Runs it so many times, some at a time. */
async function times(count: number, atOnce: number, run: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await run()
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
}

async function handle({ open = 0, cycles = 0, atOnce = 1, leave = false, ...more }: ViewersRequest): Promise<void> {
  token = more.token ?? token
  const failures: string[] = []
  const firstMs: number[] = []
  await times(open, atOnce, async () => {
    const began = performance.now()
    try {
      viewers.push(await come())
      firstMs.push(performance.now() - began)
    } catch (error) {
      failures.push(String(error))
    }
  })
  await times(cycles, cyclesAtOnce, comeAndGo)
  const packets = viewers.reduce((sum, viewer) => sum + viewer.packets, earlierPackets)
  const video = viewers.map(({ video: { received, sent } }) => ({ received, sent }))
  if (leave) for (const viewer of viewers.splice(0)) await viewer.close()
  process.send?.({ packets, video, firstMs, failures } satisfies ViewersSeen)
}

serveRequests(handle)
