import { setTimeout as sleep } from 'node:timers/promises'
import { startCamera } from '../support/camera/camera.ts'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { Crowd } from './crowd.ts'
import { processorMs } from './process-figures.ts'
import type { Row } from './table.ts'
import type { ViewersSeen } from './whep-viewers.ts'

const audience = 400
/** Number of viewer processes: one for each core that the node leaves them. */
const crowds = 2
const settleMs = 3_000
const watchMs = 10_000
/** Interval between requests of the controller, in milliseconds. */
const askEveryMs = 20
const maxAnswerMs = { come: 200, watch: 100 }

/** Measures hundreds of viewers who start at once on one camera: all receive everything, and the controller gets answers. */
export async function measureAudience(): Promise<Row[]> {
  const fps = 25
  await using camera = await startCamera({ width: 640, height: 360, fps, kbps: 500, gop: 50, pattern: 'smpte' })
  await using node = await TestMediaNode.start({ program: builtMediaProgram })
  const pid = node.child.pid ?? 0
  await node.openRoom('bench')
  await node.addDevice('bench', 'cam', camera.url('/cam'))
  const token = node.token('bench', { role: 'observer', lifeMs: 600_000 })
  using one = new Crowd(`${node.url}/whep/bench/cam`, token)
  using other = new Crowd(`${node.url}/whep/bench/cam`, token)
  const all = async (request: Parameters<Crowd['ask']>[0]): Promise<ViewersSeen[]> =>
    await Promise.all([one, other].map(async (crowd) => await crowd.attempt(request)))
  const answers = new ControlAnswers(node)
  const came = await all({ open: audience / crowds, atOnce: audience / crowds })
  const whileTheyCame = answers.take()
  await sleep(settleMs)
  answers.take()
  const [before, processorBefore, began] = [await all({}), await processorMs(pid), performance.now()]
  await sleep(watchMs)
  const after = await all({})
  const rate = (await processorMs(pid)) - processorBefore
  const seconds = (performance.now() - began) / 1000
  const whileTheyWatch = answers.take()
  await answers.end()
  const failures = came.flatMap((crowd) => crowd.failures)
  const firstMs = came.flatMap((crowd) => crowd.firstMs).sort((a, b) => a - b)
  const was = before.flatMap(({ video }) => video)
  const missed = after
    .flatMap(({ video }) => video)
    .map((now, index) => now.sent - now.received - ((was[index]?.sent ?? 0) - (was[index]?.received ?? 0)))
  const whole = missed.filter((packets) => packets <= 0).length
  const what = `${audience} viewers of one camera that start at once`
  return [
    {
      what: `${what}: watch without a loss`,
      measured:
        `${whole} (${failures.length} failed; the last one's first packet after ${((firstMs.at(-1) ?? 0) / 1000).toFixed(1)} s; ` +
        `${(rate / seconds).toFixed(0)} ms/s CPU)`,
      goal: 'all',
      reached: whole === audience,
    },
    ...[['come', whileTheyCame] as const, ['watch', whileTheyWatch] as const].map(
      ([when, times]): Row => ({
        what: `${what}: the controller's requests while they ${when}`,
        measured: `${times.length}, median ${middle(times).toFixed(1)} ms, longest ${(times.at(-1) ?? 0).toFixed(0)} ms`,
        goal: `longest under ${maxAnswerMs[when]} ms`,
        reached: (times.at(-1) ?? 0) < maxAnswerMs[when],
      }),
    ),
  ]
}

function middle(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1] ?? 0
}

/** Sends requests to the node continuously, and records the time of each answer. */
class ControlAnswers {
  readonly #node: TestMediaNode
  readonly #asking: Promise<void>
  #times: number[] = []
  #over = false

  constructor(node: TestMediaNode) {
    this.#node = node
    this.#asking = this.#ask()
  }

  /** Returns the times since the last call, in milliseconds, in ascending order. */
  take(): number[] {
    return this.#times.splice(0).sort((a, b) => a - b)
  }

  async end(): Promise<void> {
    this.#over = true
    await this.#asking
  }

  async #ask(): Promise<void> {
    while (!this.#over) {
      const began = performance.now()
      await this.#node.request('health', {})
      this.#times.push(performance.now() - began)
      await sleep(askEveryMs)
    }
  }
}
