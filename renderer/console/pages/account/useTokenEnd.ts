import type { AccessTokenView } from '../../../../shared/console/accounts.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'
import { useTokenChanges } from './useTokenChanges.ts'

/** Lists the changes of an access token, and asks before revoking it. @param call revokes the token with this id */
export function useTokenEnd(call: (id: string) => Promise<unknown>): (token: AccessTokenView) => Promise<void> {
  const { t } = useText()
  const { ask, attempt } = useFeedback()
  const changesOf = useTokenChanges()
  return async (token) => {
    const { id, label } = token
    const facts = await changesOf(token).catch(() => ({ title: t('accounts.tokens.didUnknown'), lines: [] }))
    const yes = await ask({
      title: t('accounts.tokens.askTitle', { label }),
      body: t('words.noUndo'),
      losses: [t('accounts.tokens.lose')],
      facts,
      action: t('words.revoke'),
    })
    if (yes) await attempt(() => call(id), t('accounts.tokens.revoked'))
  }
}
