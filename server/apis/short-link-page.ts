import { ApiError } from '../../shared/result-codes.ts'
import { codeOfPath, shortLinkPath } from '../../shared/media/short-link.ts'
import type { HolderPage, HolderPages } from '../capabilities/holder-pages.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import { answerNotice, type Notice, noticeOf } from './visit-notice.ts'

const ended: Notice = { status: 404, error: 'roomNotFound', text: 'linkEnded' }

/**
 * `GET /j/<code>` redirects the holder of a short link to the room page. Unlike the token in a fragment, the code is
 * sent to the server. The code refers to a stored capability, which ends as soon as it is revoked. All invalid codes
 * get the same response, and count as guesses.
 */
export function shortLinkPage(
  links: Pick<JoinLinks, 'tokenOf' | 'enter'>,
  pages: Pick<HolderPages, 'page'>,
): HolderPage {
  return pages.page({
    kinds: ['join'],
    read: (path) => {
      if (!path.startsWith(shortLinkPath)) return undefined
      const code = codeOfPath(path) ?? ''
      return { token: code === '' ? '' : links.tokenOf(code), file: code }
    },
    serve: async ({ context, capability, file: code }) => {
      try {
        context.redirect(links.enter(capability, code))
        context.status = 302
        context.body = ''
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        answerNotice(context, noticeOf(error))
      }
      return true
    },
    refuse: (context) => {
      answerNotice(context, ended)
      return true
    },
  })
}
