import { hideSecrets, type Settings } from '../../shared/settings.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import { placeOfRecord, sealedCollections, sealedTextOf, withTrashTexts } from '../store/sealed-places.ts'
import type { SealedPlace } from '../store/sealer.ts'
import type { Store } from '../store/store.ts'

/**
 * Lists every secret that the site stores, in plain text, so that diagnostics can remove them. Secrets are credentials,
 * passwords, keys of nodes and storage, and logins in addresses.
 */
export function knownSecrets(store: Pick<Store, 'all' | 'unseal'>, settings: Settings): string[] {
  const secrets: string[] = []
  const open = (text: string, place: SealedPlace): void => {
    try {
      secrets.push(...leavesOf(store.unseal(text, place)))
    } catch {
      // The secret was sealed with another key and cannot be read here.
    }
  }
  for (const collection of sealedCollections) {
    for (const [key, record] of store.all(collection)) {
      const text = sealedTextOf(collection, record)
      if (text !== '') open(text, placeOfRecord(collection, key, record))
    }
  }
  for (const entry of store.all('trash').values())
    withTrashTexts(entry, (text, place) => {
      open(text, place)
      return text
    })
  for (const { userAddress, options } of store.all('devices').values())
    secrets.push(...ofAddress(userAddress), ...ofAddress(options.assist_address))
  return [...secrets, ...hiddenValues(settings, hideSecrets(settings))]
}

/**
 * Returns the secrets of an address that may contain a login: the whole address, the part before its host, and its
 * path.
 */
function ofAddress(address: unknown): string[] {
  if (typeof address !== 'string' || shownAddress(address) === address) return []
  const [, login = '', path = ''] = /^[a-z]+:\/\/(?:(.*)@)?[^/]*(.*)$/is.exec(address) ?? []
  const password = login.slice(login.indexOf(':') + 1)
  return [address, login, password, path, ...path.split(/[/?&=]/).filter((piece) => piece.length >= 6)]
}

/** Returns the texts in a secret, which may be a JSON document with several. */
function leavesOf(text: string): string[] {
  if (!text.startsWith('{')) return [text]
  try {
    return [text, ...stringsIn(JSON.parse(text))]
  } catch {
    return [text]
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** Returns the texts that are in `open` but hidden in `hidden`. */
function hiddenValues(open: unknown, hidden: unknown): string[] {
  if (typeof open === 'string') return open === hidden ? [] : [open]
  if (typeof open !== 'object' || open === null) return []
  const other = typeof hidden === 'object' && hidden !== null ? hidden : {}
  return Object.entries(open).flatMap(([name, value]) => hiddenValues(value, Reflect.get(other, name)))
}
