import type { IncomingHttpHeaders } from 'node:http'
import { monotonic, sleep } from '../store/system/time.ts'
import type { AccountSessions } from '../access/accounts/account-sessions.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { refused, resultOfError, statusOf } from '../console/console-answer.ts'
import type { BegunSession, LeaderEntrance } from '../console/entrance.ts'
import { pageHalfHeader } from '../../shared/console/session-halves.ts'
import type { LeaderConsole } from './leader-console.ts'
import { clusterTimes } from '../store/election/timings.ts'

/** Signs users in and out at a replica. The leader checks, counts and stores; the replica passes its answer on. */
export function leaderSignIn(console: LeaderConsole, sessions: Pick<AccountSessions, 'check'>): LeaderEntrance {
  return {
    async signIn(offered, { client, browser }) {
      try {
        const { status, headers, body } = await console.ask('POST', '/session', client, {
          headers: { 'user-agent': browser },
          body: JSON.stringify(offered),
        })
        const retryAfter = headers['retry-after']
        const session = status === 204 ? begunSession(headers) : undefined
        if (session !== undefined) await isKnown(sessions, session)
        return { status, body: body === '' ? undefined : JSON.parse(body), retryAfter, session }
      } catch (error) {
        const body = resultOfError(error) ?? refused(refusal('leaderSilent'))
        return { status: statusOf.failed, body, retryAfter: undefined, session: undefined }
      }
    },
    async signOut(headers, client) {
      // The browser has dropped the session already. If the leader is unreachable, it expires on its own.
      await console.ask('DELETE', '/session', client, { headers }).catch(() => undefined)
    },
  }
}

function begunSession(headers: IncomingHttpHeaders): BegunSession | undefined {
  const cookie = /^[\w-]+=([^;]+)/.exec(headers['set-cookie']?.[0] ?? '')?.[1]
  const half = headers[pageHalfHeader]
  return cookie === undefined || typeof half !== 'string' ? undefined : { cookie, half }
}

async function isKnown(sessions: Pick<AccountSessions, 'check'>, { cookie, half }: BegunSession): Promise<void> {
  const end = monotonic() + clusterTimes.readSession
  while (sessions.check(cookie, { half }) === undefined && monotonic() < end) await sleep(clusterTimes.readSessionCheck)
}
