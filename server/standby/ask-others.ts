import { request as send } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import type { KnownController } from '../store/site-member.ts'
import { connectTo, leaderPort } from './leader-connection.ts'

const healthSchema = z.looseObject({ role: z.string(), epoch: z.string() })

/** Who leads, as the other controllers say themselves (`GET /healthz`). The highest epoch counts; undefined: none of them says that it leads. */
export async function askOthers(
  others: readonly KnownController[],
  signal: AbortSignal,
): Promise<{ epoch: string } | undefined> {
  const epochs = await Promise.all(others.map((other) => epochOf(other, signal).catch(() => undefined)))
  const leading = epochs.filter((epoch) => epoch !== undefined)
  const highest = leading.reduce<bigint | undefined>(
    (most, epoch) => (most === undefined || epoch > most ? epoch : most),
    undefined,
  )
  return highest === undefined ? undefined : { epoch: String(highest) }
}

async function epochOf({ place }: KnownController, signal: AbortSignal): Promise<bigint | undefined> {
  const port = leaderPort(place.console, place.certificate)
  if (port === undefined) return undefined
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  connectTo(port, (error, socket) => {
    if (error !== null) return reject(error)
    const headers = { host: 'localhost', connection: 'close' }
    const asked = send({ createConnection: () => socket, path: '/healthz', headers, signal })
    asked.on('error', reject)
    asked.once('response', (response) => json(response).then(resolve, reject))
    asked.end()
  })
  const told = healthSchema.safeParse(await promise).data
  return told?.role === 'leader' && /^\d{1,18}$/.test(told.epoch) ? BigInt(told.epoch) : undefined
}
