import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { JanusFields } from '../wire/admin-api.ts'
import { janusCodes, janusErrorOf } from '../wire/janus-error.ts'
import type { JanusHandle } from '../wire/janus-handle.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket } from '../wire/janus-socket.ts'
import type { JanusAccess } from '../../secrets/janus-access.ts'
import type { JanusFindings } from './janus-findings.ts'
import type { NodeLogger } from '../../port/node-failure.ts'

/** Timeout of removing the test room, in milliseconds, also after the inspection was aborted. */
const removalMs = 3_000
/** Time to wait for a node's event, in milliseconds. Events usually arrive within a few milliseconds. */
const eventTimeoutMs = 1_500
/** Error codes of VideoRoom: the secret or key is missing, or it is wrong. */
const refusals: readonly number[] = [429, janusCodes.roomUnauthorized]

const listSchema = z.object({
  list: z.array(z.looseObject({ room: z.union([z.string(), z.number()]), lock_record: z.boolean().optional() })),
})

/** Dependencies of a trial with a room. */
export interface TrialContext {
  logger: NodeLogger
  /**
   * Resolves to whether the node sends an event about a room before the signal aborts; never rejects. Left out: events
   * cannot reach this controller.
   */
  events?: ((room: string, signal: AbortSignal) => Promise<boolean>) | undefined
  findings: JanusFindings
  signal: AbortSignal
}

interface TrialRoom {
  room: string
  secret: string
}

/**
 * Creates a room in the same way as the driver, and removes it afterwards. In between, tries the requests of a user who
 * is admitted to the node, but not to this room. With `events`, also checks whether the node sends events about the
 * room.
 * @param controller handle of VideoRoom
 * @param token token that the node admits; empty: none
 * @throws the errors of JanusSocket.request
 */
export async function inspectRoom(
  access: JanusAccess,
  controller: JanusHandle,
  token: string,
  { logger, findings, signal, events }: TrialContext,
): Promise<void> {
  const trial: TrialRoom = {
    room: `roomdesk-test-${randomBytes(6).toString('hex')}`,
    secret: randomBytes(16).toString('base64url'),
  }
  const key = { admin_key: access.secrets.admin_key }
  const told = events?.(trial.room, AbortSignal.any([signal, AbortSignal.timeout(eventTimeoutMs)]))
  await controller.request(
    {
      request: 'create',
      ...trial,
      ...key,
      permanent: false,
      description: 'test of a node',
      is_private: true,
      lock_record: true,
      signed_tokens: true,
      require_pvtid: true,
      allowed: [randomBytes(16).toString('base64url')],
    },
    signal,
  )
  try {
    const rooms = await listed(controller, key, signal)
    if (rooms?.some(({ room, lock_record }) => room === trial.room && lock_record !== true))
      findings.add('recordingOpen')
    await inspectStranger(access, trial, token, { logger, findings, signal })
  } finally {
    await controller
      .request({ request: 'destroy', ...trial }, AbortSignal.timeout(removalMs))
      .catch((error: unknown) => {
        logger.warn({ node: access.name, room: trial.room, err: error }, 'could not remove the room of a test')
      })
  }
  if ((await told) === false) findings.add('eventsOff')
}

async function inspectStranger(
  { wsUrl, leadership }: JanusAccess,
  { room, secret }: TrialRoom,
  token: string,
  { logger, findings, signal }: Omit<TrialContext, 'events'>,
): Promise<void> {
  const socket = await JanusSocket.open(
    { url: wsUrl, apiSecret: '', token: token === '' ? undefined : token, leadership, logger },
    signal,
  )
  try {
    const session = await JanusSession.create(socket, signal)
    const handle = await session.attach('janus.plugin.videoroom', signal)
    const refused = async (request: JanusFields): Promise<boolean> =>
      refusals.includes(await janusErrorOf(handle.request(request, signal)))
    const rooms = await listed(handle, {}, signal)
    const others = rooms?.filter((each) => each.room !== room) ?? []
    if (others.length > 0) findings.add('roomsListed', { count: String(others.length) })
    const acts = Object.entries({
      edit: { request: 'edit', room, new_description: 'test' },
      kick: { request: 'kick', room, id: 'nobody' },
      allowed: { request: 'allowed', room, action: 'disable' },
      record: { request: 'enable_recording', room, record: true },
      join: { request: 'join', ptype: 'publisher', room },
    } satisfies Record<string, JanusFields>)
    const possible: string[] = []
    for (const [act, request] of acts) if (!(await refused(request))) possible.push(act)
    if (possible.length > 0) findings.add('roomOpen', { acts: possible.join(', ') })
    // Uses the secret of the room, but not the key of the node.
    const forward = { request: 'rtp_forward', room, secret, publisher_id: 'nobody', host: '127.0.0.1', streams: [] }
    if (!(await refused(forward))) findings.add('forwardingOpen')
    await session.destroy(signal)
  } finally {
    socket.close()
  }
}

async function listed(
  handle: JanusHandle,
  key: JanusFields,
  signal: AbortSignal,
): Promise<z.output<typeof listSchema>['list'] | undefined> {
  const { data } = await handle.request({ request: 'list', ...key }, signal)
  return listSchema.safeParse(data).data?.list
}
