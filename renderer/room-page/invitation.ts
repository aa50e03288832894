import { joinLink, roomPagePath } from '../../shared/media/room-page.ts'
import type { Entry } from './entry.ts'
import { fill, texts } from './texts/texts.ts'

/** Text and link of an invitation. */
export interface Invitation {
  topic: string
  link: string
}

/**
 * Returns a link to share: the address of a room that can be joined by its number, else the link of the page if it is
 * for anybody, in its short form if it has one. A personal link, or a link for hosts, is never shared.
 * @param origin origin of the page, e.g. `http://10.0.0.5:7082`
 */
export function invitationOf(
  { roomId, token, url, isForAnybody }: Pick<Entry, 'roomId' | 'token' | 'url' | 'isForAnybody'>,
  { topic, byNumber }: { topic: string; byNumber: boolean },
  origin: string,
): Invitation | undefined {
  const base = `${origin}${roomPagePath}`
  if (byNumber) return { topic, link: joinLink(base, roomId, '') }
  return isForAnybody ? { topic, link: url === '' ? joinLink(base, roomId, token) : url } : undefined
}

/**
 * Resolves to whether the text was copied. A page over plain HTTP has no clipboard API and copies a selection instead.
 */
export async function copyInvitation({ topic, link }: Invitation): Promise<boolean> {
  const text = fill(texts.value.invitation.text, { topic, link })
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('readonly', '')
  field.style.cssText = 'position: fixed; opacity: 0'
  document.body.append(field)
  field.select()
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way where the page came over plain HTTP
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
  }
}
