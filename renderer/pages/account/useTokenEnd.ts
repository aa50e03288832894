import type { AccessTokenView } from '../../../shared/console/accounts.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

/** Asks before an access token is revoked. @param call revokes the one of an id */
export function useTokenEnd(call: (id: string) => Promise<unknown>): (token: AccessTokenView) => Promise<void> {
  const { t } = useText()
  const { ask, attempt } = useFeedback()
  return async ({ id, label }) => {
    const yes = await ask({
      title: t('accounts.tokens.askTitle', { label }),
      body: t('accounts.tokens.askBody'),
      losses: [t('accounts.tokens.lose')],
      action: t('accounts.tokens.revoke'),
    })
    if (yes) await attempt(() => call(id), t('accounts.tokens.revoked'))
  }
}
