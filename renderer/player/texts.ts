const en = {
  live: 'Live',
  soundOn: 'Turn the sound on',
  play: 'Play',
  waiting: 'Waiting for the picture…',
  over: 'This live stream has ended, or its link has expired. Ask for a new link.',
  impossible: 'This stream cannot be shown at the moment. The page tries again by itself.',
  unreachable: 'The server does not answer. The page tries again by itself.',
  unsupported: 'This browser cannot play the stream. Try a current version of Chrome, Edge, Firefox or Safari.',
  noFile: 'There is no recording at this address, or it was deleted.',
  otherSite: 'Only recordings and live streams of this site are played here.',
  rtmp: 'Browsers cannot play RTMP. Open the address in a player such as VLC, or use the hlsurl of the live stream.',
  noSource: 'The address of this page names no recording or live stream (src=…).',
}

export type Texts = typeof en

const zh: Texts = {
  live: '直播',
  soundOn: '打开声音',
  play: '播放',
  waiting: '正在等待画面…',
  over: '直播已结束，或链接已过期。请索取新链接。',
  impossible: '目前无法显示该直播，页面会自动重试。',
  unreachable: '服务器没有应答，页面会自动重试。',
  unsupported: '此浏览器无法播放该直播。请使用最新版本的 Chrome、Edge、Firefox 或 Safari。',
  noFile: '此地址没有录制文件，或文件已被删除。',
  otherSite: '这里只播放本站点的录制和直播。',
  rtmp: '浏览器无法播放 RTMP。请用 VLC 等播放器打开该地址，或使用直播的 hlsurl。',
  noSource: '页面地址中没有指定录制或直播（src=…）。',
}

const de: Texts = {
  live: 'Live',
  soundOn: 'Ton einschalten',
  play: 'Abspielen',
  waiting: 'Warten auf das Bild …',
  over: 'Dieser Livestream ist beendet oder der Link abgelaufen. Bitten Sie um einen neuen Link.',
  impossible: 'Dieser Stream kann zurzeit nicht gezeigt werden. Die Seite versucht es von selbst wieder.',
  unreachable: 'Der Server antwortet nicht. Die Seite versucht es von selbst wieder.',
  unsupported:
    'Dieser Browser kann den Stream nicht abspielen. Nehmen Sie ein aktuelles Chrome, Edge, Firefox oder Safari.',
  noFile: 'Unter dieser Adresse gibt es keine Aufzeichnung, oder sie wurde gelöscht.',
  otherSite: 'Hier werden nur Aufzeichnungen und Livestreams dieser Site abgespielt.',
  rtmp: 'Browser können RTMP nicht abspielen. Öffnen Sie die Adresse in einem Player wie VLC oder nehmen Sie die hlsurl des Livestreams.',
  noSource: 'Die Adresse dieser Seite nennt keine Aufzeichnung und keinen Livestream (src=…).',
}

/** Texts and their language tag: as the address of the page says (`lang`), else as the browser does. */
export function textsOf(search: string, languages: readonly string[]): { lang: string; texts: Texts } {
  const wanted = [new URLSearchParams(search).get('lang') ?? '', ...languages]
  for (const tag of wanted) {
    if (/^zh\b/i.test(tag)) return { lang: 'zh-CN', texts: zh }
    if (/^de\b/i.test(tag)) return { lang: 'de', texts: de }
    if (/^en\b/i.test(tag)) break
  }
  return { lang: 'en', texts: en }
}
