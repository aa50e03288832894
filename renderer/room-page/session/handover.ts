import { joinLink, roomPagePath, tokenParameter } from '../../../shared/media/room-page.ts'
import { loopback } from '../../../shared/bind-address.ts'
import type { SwitchPositions } from '../local/switch-position.ts'

/** Parameter of the fragment with the handover; no server sees it, and the page removes it at once. */
const parameter = 'back'
/** Parameter of the fragment with the devices that stay off. Any page may ask for that: it turns nothing on. */
const offParameter = 'off'
/** Key of a handover to the reloaded page. */
const storageKey = 'roomdesk.handover'
/** Maximum length of each text. */
const longest = 512
/** Maximum age of a handover, in milliseconds: a tab that is restored later starts at the entrance. A certificate warning at https takes its time. */
const maxAgeMs = 5 * 60_000

/** State of a visit that goes on in another page: at https, where the browser keeps other storage, or after a reload. */
export interface Handover {
  userName: string
  hostPassword: string
  pass: string
  browser: string
  /** Switches of microphone and camera. */
  audio: boolean
  video: boolean
  /** Time at which it was made, in milliseconds since the epoch. */
  at: number
}

/** What another page hands over to this one. */
export interface Arrival {
  /** Visit to continue; undefined: the page starts at the entrance. */
  visit: Handover | undefined
  /** Switches of microphone and camera, as left on the page before; undefined: as left in this tab. */
  left: SwitchPositions | undefined
}

const allOff: SwitchPositions = { audio: false, video: false }

interface Place {
  host: string
  hostname: string
  pathname: string
  search: string
  hash: string
}

/** Address of this page at https. @param token of the join link; empty: none */
export function secureAddress(
  { host, search }: Pick<Place, 'host' | 'search'>,
  token: string,
  handover: Handover,
): string {
  const fragment = new URLSearchParams({ [parameter]: JSON.stringify(handover) })
  if (token !== '') fragment.set(tokenParameter, token)
  return `https://${host}${roomPagePath}${search}#${fragment.toString()}`
}

/** Goes to the same page at https, which sees where its visitor comes from. */
export function goTo(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.referrerPolicy = 'origin'
  link.click()
}

/** Address of the page of another node: it starts at the entrance, with the devices off that were off. */
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
 * Takes what the page before handed over, out of the address or the tab's storage.
 * @param referrer origin of the page before
 * @param replace sets the fragment
 */
export function takeArrival(place: Place, referrer: string, replace: (hash: string) => void): Arrival {
  const fragment = new URLSearchParams(place.hash.slice(1))
  const text = fragment.get(parameter)
  const off = fragment.get(offParameter)?.split(',')
  const token = fragment.get(tokenParameter) ?? ''
  if (text !== null || off !== undefined) replace(token === '' ? '' : `#${tokenParameter}=${token}`)
  // Somebody could have sent a handover in a link: only the same page at http makes one.
  const handed = text !== null && referrer === `http://${place.host}/` ? parsed(text) : undefined
  // A plain page of another machine had neither microphone nor camera, so nobody turned them on there.
  const visit = handed !== undefined && !loopback.test(place.hostname) ? { ...handed, ...allOff } : handed
  const continued = visit ?? takeKeptHandover()
  if (continued !== undefined) return { visit: continued, left: continued }
  return { visit: undefined, left: off && { audio: !off.includes('audio'), video: !off.includes('video') } }
}

/** Keeps a handover for the page's reload. @returns false if storage is disabled */
export function keepHandover(handover: Handover): boolean {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(handover))
    return true
  } catch {
    return false
  }
}

/** Takes the handover of the page before its reload. */
function takeKeptHandover(): Handover | undefined {
  try {
    const text = sessionStorage.getItem(storageKey)
    sessionStorage.removeItem(storageKey)
    return text === null ? undefined : parsed(text)
  } catch {
    return undefined
  }
}

function parsed(text: string): Handover | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const read = (name: keyof Handover): string => {
      const field: unknown = Reflect.get(value, name)
      return typeof field === 'string' ? field.slice(0, longest) : ''
    }
    const at: unknown = Reflect.get(value, 'at')
    if (typeof at !== 'number' || Math.abs(Date.now() - at) > maxAgeMs) return undefined
    return {
      at,
      userName: read('userName'),
      hostPassword: read('hostPassword'),
      pass: read('pass'),
      browser: read('browser'),
      audio: Reflect.get(value, 'audio') === true,
      video: Reflect.get(value, 'video') === true,
    }
  } catch {
    return undefined
  }
}
