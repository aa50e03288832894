import { joinLink, roomPagePath, tokenParameter } from '../../../shared/media/room-page.ts'
import { loopback } from '../../../shared/bind-address.ts'
import type { SwitchPositions } from '../local/switch-position.ts'
import { tabStorage } from '../../kit/storage.ts'

/** Fragment parameter of the handover. Browsers send fragments to no server, and the page removes it at once. */
const parameter = 'back'
/** Fragment parameter of the devices that stay off. It is accepted from any page, because it turns nothing on. */
const offParameter = 'off'
/** Storage key of a handover to the reloaded page. */
const storageKey = 'roomdesk.handover'
/** Maximum length of each text. */
const longest = 512
/**
 * Maximum age of a handover, in milliseconds: a tab restored later starts at the entrance. Users may need minutes for a
 * certificate warning at https.
 */
const maxAgeMs = 5 * 60_000

/** State of a visit that continues in another page: at https, whose storage is separate, or after a reload. */
export interface Handover {
  userName: string
  hostPassword: string
  pass: string
  browser: string
  /** Switches of microphone and camera. */
  audio: boolean
  video: boolean
  /** Time of the handover, in milliseconds since the epoch. */
  at: number
}

/** State that this page takes over from the previous one. */
export interface Arrival {
  /** Visit to continue; undefined: the page starts at the entrance. */
  visit: Handover | undefined
  /** Switches of microphone and camera, as left on the previous page; undefined: as left in this tab. */
  left: SwitchPositions | undefined
}

const allOff: SwitchPositions = { audio: false, video: false }

/** Address of this page at https. @param token of the join link; empty: none */
export function secureAddress(
  { host, search }: Pick<Location, 'host' | 'search'>,
  token: string,
  handover: Handover,
): string {
  const fragment = new URLSearchParams({ [parameter]: JSON.stringify(handover) })
  if (token !== '') fragment.set(tokenParameter, token)
  return `https://${host}${roomPagePath}${search}#${fragment.toString()}`
}

/** Opens the same page at https by a link, so that the new page receives the referrer. */
export function goTo(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.referrerPolicy = 'origin'
  link.click()
}

/**
 * Returns the address of another node's page, which starts at the entrance and leaves off the devices that are off now.
 */
export function addressElsewhere(
  node: string,
  roomId: string,
  token: string,
  { audio, video }: SwitchPositions,
): string {
  const off = [audio ? '' : 'audio', video ? '' : 'video'].filter((each) => each !== '').join()
  const link = joinLink(`${node}${roomPagePath}`, roomId, token)
  if (off === '') return link
  return `${link}${token === '' ? '#' : '&'}${offParameter}=${off}`
}

/**
 * Takes the handover of the previous page out of the address or the tab's storage.
 * @param referrer origin of the previous page
 * @param replace sets the fragment
 */
export function takeArrival(
  place: Pick<Location, 'host' | 'hostname' | 'hash'>,
  referrer: string,
  replace: (hash: string) => void,
): Arrival {
  const fragment = new URLSearchParams(place.hash.slice(1))
  const text = fragment.get(parameter)
  const off = fragment.get(offParameter)?.split(',')
  const token = fragment.get(tokenParameter) ?? ''
  if (text !== null || off !== undefined) replace(token === '' ? '' : `#${tokenParameter}=${token}`)
  // A link may contain a forged handover: only the same page at http is accepted as its source.
  const handed = text !== null && referrer === `http://${place.host}/` ? parsed(text) : undefined
  // A page over plain HTTP on another machine cannot use microphone and camera, so the user cannot have turned them on
  // there.
  const visit = handed !== undefined && !loopback.test(place.hostname) ? { ...handed, ...allOff } : handed
  const continued = visit ?? takeKeptHandover()
  if (continued !== undefined) return { visit: continued, left: continued }
  return { visit: undefined, left: off && { audio: !off.includes('audio'), video: !off.includes('video') } }
}

/** Stores a handover for the page's reload. @returns false if storage is disabled */
export function keepHandover(handover: Handover): boolean {
  return tabStorage.set(storageKey, JSON.stringify(handover))
}

/** Takes the handover that the page stored before its reload. */
function takeKeptHandover(): Handover | undefined {
  const text = tabStorage.get(storageKey)
  tabStorage.set(storageKey, undefined)
  return text === undefined ? undefined : parsed(text)
}

function parsed(text: string): Handover | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object') return undefined
    const fields: Partial<Record<keyof Handover, unknown>> = { ...value }
    const read = (name: keyof Handover): string => {
      const field = fields[name]
      return typeof field === 'string' ? field.slice(0, longest) : ''
    }
    const { at, audio, video } = fields
    if (typeof at !== 'number' || Math.abs(Date.now() - at) > maxAgeMs) return undefined
    return {
      at,
      userName: read('userName'),
      hostPassword: read('hostPassword'),
      pass: read('pass'),
      browser: read('browser'),
      audio: audio === true,
      video: video === true,
    }
  } catch {
    return undefined
  }
}
