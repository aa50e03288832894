import { asciiOnly, requestUrlOf } from '../../../shared/device-address.ts'

/**
 * URL that a camera names in Content-Base, Content-Location or a control attribute. Cameras append to the base with a slash rather than as RFC 3986 says, so this does too. A
 * login in it is removed; an invalid URL is ignored.
 */
export function controlUrl(base: string, control: string): string {
  if (control === '' || control === '*') return base
  if (/^rtsps?:\/\//i.test(control)) return requestUrlOf(control) ?? base
  const path = asciiOnly(control)
  return base.endsWith('/') ? base + path : `${base}/${path}`
}
