import { roomPagePath, tokenParameter } from '../../../shared/media/room-page.ts'
import { loopback } from '../../../shared/bind-address.ts'

/** Parameter of the fragment with the handover; no server sees it, and the page removes it at once. */
const parameter = 'back'
/** Key of a handover to the reloaded page. */
const storageKey = 'roomdesk.handover'
/** Maximum length of each text. */
const longest = 512

/** State of a visit that goes on in another page: at https, where the browser keeps other storage, or after a reload. */
export interface Handover {
  userName: string
  hostPassword: string
  pass: string
  browser: string
  audio: boolean
  video: boolean
}

interface Place {
  host: string
  pathname: string
  search: string
  hash: string
}

/** Address of this page at https. @param token of the join link; empty: none */
export function secureAddress({ host, search }: Place, token: string, handover: Handover): string {
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

/**
 * Takes the handover out of the address. One that this page did not make is dropped: somebody could have sent it in a link.
 * @param referrer origin of the page before
 * @param replace sets the fragment
 */
export function takeHandover(
  { host, hash }: Place,
  referrer: string,
  replace: (hash: string) => void,
): Handover | undefined {
  const fragment = new URLSearchParams(hash.slice(1))
  const text = fragment.get(parameter)
  if (text === null) return undefined
  fragment.delete(parameter)
  const token = fragment.get(tokenParameter) ?? ''
  replace(token === '' ? '' : `#${tokenParameter}=${token}`)
  return referrer === `http://${host}/` ? parsed(text) : undefined
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
export function takeKeptHandover(): Handover | undefined {
  try {
    const text = sessionStorage.getItem(storageKey)
    sessionStorage.removeItem(storageKey)
    return text === null ? undefined : parsed(text)
  } catch {
    return undefined
  }
}

/** Whether microphone and camera go on as they were. A plain page of another machine had neither, so nobody may turn them on by a handover. */
export function keepsDevices({ hostname }: { hostname: string }): boolean {
  return loopback.test(hostname)
}

function parsed(text: string): Handover | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const read = (name: keyof Handover): string => {
      const field: unknown = Reflect.get(value, name)
      return typeof field === 'string' ? field.slice(0, longest) : ''
    }
    return {
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
