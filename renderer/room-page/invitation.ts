import { joinLink, roomPagePath } from '../../shared/media/room-page.ts'
import type { Entry } from './entry.ts'
import { fill, texts } from './texts/texts.ts'

/** Text and link of an invitation. */
export interface Invitation {
  topic: string
  link: string
}

/**
 * A link that others may have: the address of a room that its number opens, else the link of the page where it is for anybody. A link that was made for one person, or
 * that makes one host, is never given on.
 * @param origin of the page, e.g. `http://10.0.0.5:7082`
 */
export function invitationOf(
  { roomId, token, isForAnybody }: Pick<Entry, 'roomId' | 'token' | 'isForAnybody'>,
  { topic, byNumber }: { topic: string; byNumber: boolean },
  origin: string,
): Invitation | undefined {
  const base = `${origin}${roomPagePath}`
  if (byNumber) return { topic, link: joinLink(base, roomId, '') }
  return isForAnybody ? { topic, link: joinLink(base, roomId, token) } : undefined
}

/** Resolves to whether it is in the clipboard. A page over plain HTTP has none of its own: the text is copied as if it were selected. */
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
