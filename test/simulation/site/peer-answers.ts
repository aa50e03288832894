import type { ClusterMember } from '../../../server/store/election/cluster-member.ts'
import type { FencedStore, JoiningController } from '../../../server/store/election/site-member.ts'

/** Answers the two requests of other controllers: `GET /healthz`, `POST /controllers`. */
export async function answerPeer(
  member: ClusterMember | undefined,
  store: FencedStore | undefined,
  path: string,
  body: string,
): Promise<{ status: number; body: string }> {
  if (member === undefined) return { status: 503, body: '' }
  if (path === '/controllers') {
    const joiner = JSON.parse(body) as JoiningController
    return { status: member.register(joiner) ? 204 : 421, body: '' }
  }
  const { awaySince, error } = member.answerLeader()
  const health =
    store === undefined
      ? { role: 'standby', epoch: member.knownTerms.epoch, store: awaySince === 0 ? 'ok' : error }
      : { role: 'leader', epoch: store.epoch, store: 'ok' }
  return { status: 200, body: JSON.stringify(health) }
}
