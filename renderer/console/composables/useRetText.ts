import common from '../../../texts/en/console/common.json'
import { type TextKey, useText } from '../i18n/text.ts'

type Api = 'media' | 'device'

/** Translates a result code (specification, section 7). */
export function useRetText() {
  const { t } = useText()

  function known(api: Api, ret: number): TextKey | null {
    return Object.hasOwn(common.ret[api], `r${ret}`) ? (`ret.${api}.r${ret}` as TextKey) : null
  }

  /** "room not found" */
  function retText(api: Api, ret: number): string {
    if (ret === 0) return t('ret.ok')
    return t(known(api, ret) ?? 'ret.other')
  }

  /** Translates a code of an unknown API: the media API's meaning first. */
  function anyRetText(ret: number): string {
    return known('media', ret) ? retText('media', ret) : retText('device', ret)
  }

  return { retText, anyRetText }
}

/** Lists every code of both tables, ascending. */
export function allRets(): number[] {
  const names = [...Object.keys(common.ret.media), ...Object.keys(common.ret.device)]
  return [...new Set(names.map((name) => Number(name.slice(1))))].sort((a, b) => a - b)
}
