import { NodeFailure, type TestMediaNode } from '../media/media-node.ts'
import { always, type Act } from './hostile-case.ts'
import { HostileCamera, interleaved, rtpPacket } from './hostile-camera.ts'
import { seededRandom } from '../../../shared/seeded-random.ts'

const extremes = [
  '0',
  '-1',
  '1',
  '65535',
  '65536',
  '99999999999',
  '1e99',
  '',
  '\0',
  '%',
  ';',
  '"',
  '\r\n',
  '\r\n\r\n',
  '$',
]

/** Returns `bytes` with one to four changes: bits flipped, parts removed, doubled or inserted, numbers made extreme, the end cut off. */
export function mutated(bytes: Buffer, random: () => number): Buffer {
  let result: Buffer = Buffer.from(bytes)
  const below = (most: number): number => Math.floor(random() * most)
  const pick = <T>(values: readonly T[], otherwise: T): T => values[below(values.length)] ?? otherwise
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(result.length + 1)
    const to = Math.min(result.length, at + 1 + below(40))
    const [head, part, tail] = [result.subarray(0, at), result.subarray(at, to), result.subarray(to)]
    const changes: (() => Buffer)[] = [
      () => Buffer.concat([head, Buffer.from(part.map((byte) => byte ^ (1 << below(8)))), tail]),
      () => Buffer.concat([head, tail]),
      () => Buffer.concat([head, part, part, tail]),
      () => Buffer.concat([head, Buffer.from(pick(extremes, '0')), part, tail]),
      () => Buffer.concat([head, Buffer.from(Array.from({ length: below(60) }, () => below(256))), part, tail]),
      () => Buffer.concat([head, part]),
      () => {
        const numbers = [...result.toString('latin1').matchAll(/\d+/g)]
        const number = numbers[below(numbers.length)]
        if (number === undefined) return result
        const before = result.subarray(0, number.index)
        return Buffer.concat([
          before,
          Buffer.from(pick(extremes, '0')),
          result.subarray(number.index + number[0].length),
        ])
      },
    ]
    result = pick(changes, () => result)()
  }
  return result
}

/** Results of a number of cameras. */
export interface FuzzResult {
  joined: number
  /** Failures by kind; null: the node has no kind for it. */
  failures: Map<string | null, number>
}

/**
 * Lets a node pull cameras whose valid conversation was changed in places, several at a time, each in a room of its own that is closed afterwards.
 * @param seed the same seed makes the same changes
 */
export async function fuzzCameras(
  node: TestMediaNode,
  { seed, count, atOnce }: { seed: number; count: number; atOnce: number },
): Promise<FuzzResult> {
  const result: FuzzResult = { joined: 0, failures: new Map() }
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const number = next++
      const kind = await pullFuzzed(node, `fuzz-${number}`, seededRandom(seed + number))
      if (kind === 'joined') result.joined += 1
      else result.failures.set(kind, (result.failures.get(kind) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return result
}

async function pullFuzzed(node: TestMediaNode, roomId: string, random: () => number): Promise<string | null> {
  // Spoils one of its answers, or its packets.
  const spoiled = Math.floor(random() * 6)
  let phase = 0
  const act: Act = (caller, request) => {
    if (caller.refusesTransport(request)) return caller.usual(request)
    if (request.method === 'SETUP') caller.takePorts(request)
    const message = caller.message(request)
    caller.write(phase++ === spoiled ? mutated(message, random) : message)
    if (request.method === 'PLAY') {
      caller.every(20, () => {
        const packet = rtpPacket(phase++)
        if (spoiled < 4) caller.rtp(packet)
        else if (caller.clientPorts !== undefined || spoiled === 4) caller.rtp(mutated(packet, random))
        else caller.write(mutated(interleaved(0, packet), random))
      })
    }
  }
  await using camera = await HostileCamera.start(always(act), random() < 0.5 ? 'udp' : 'tcp')
  await node.openRoom(roomId)
  try {
    await node.addDevice(roomId, 'cam', camera.url, { login: { name: 'admin', password: 'secret' } })
    return 'joined'
  } catch (error) {
    if (error instanceof NodeFailure) return error.kind
    throw error
  } finally {
    await node.request('close_room', { roomId })
  }
}
