import type { Texts } from '../text.ts'
import type { restart as english } from '../en/restart.ts'

export const restart: Texts<typeof english> = {
  hint: '端口无误，客户端仍无法连接？',
  action: '重启监听服务',
  title: '重启两个 API 监听服务？',
  body: '客户端会短暂得不到应答。房间、参会者和设备不受影响。',
  done: '监听服务已重启',
}
